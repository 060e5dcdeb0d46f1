import { hash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { corpusRoots } from '../../ingest/sources/file-place.ts';
import { SourceSnapshots } from '../../ingest/sources/source-snapshots.ts';
import { CorpusFolders } from '../../moderate/media/corpus-folders.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import type { Run } from '../../runs/create-run.ts';
import { openRun } from '../../runs/open-run.ts';
import { assertOwnRun } from '../../runs/trust/own-run.ts';
import type { ContentAccess } from '../runs/content-access.ts';

/** A run whose sources may be read for this user. */
export interface OpenedRun {
  readonly run: Run;
  readonly snapshots: SourceSnapshots;
  /** Opens media files of the run. */
  readonly folders: CorpusFolders;
}

/** Each one holds the list of its sources in memory. */
const MAX_RUNS = 4;

/** Runs whose content was requested recently. */
export class OpenedRuns {
  readonly #access: ContentAccess;
  /** Runs by directory and hash of run.json, the least recently used first. */
  readonly #runs = new Map<string, OpenedRun>();

  constructor(access: ContentAccess) {
    this.#access = access;
  }

  /**
   * Opens a run. Returns null if this user neither created it on this machine nor trusts it, or if others can write to
   * its directory. Rejects as `openRun` does.
   */
  async open(dir: string, signal: AbortSignal): Promise<OpenedRun | null> {
    const runJson = await readRunFile(dir, RUN_FILES.run);
    if (!(await this.#isTrusted(dir, runJson))) return null;
    const name = `${hash('sha256', runJson)} ${dir}`;
    const opened = this.#runs.get(name) ?? withFiles(await openRun(dir, signal));
    this.#runs.delete(name);
    this.#runs.set(name, opened);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= MAX_RUNS) break;
      this.#runs.delete(oldest);
    }
    return opened;
  }

  async #isTrusted(dir: string, runJson: Buffer): Promise<boolean> {
    try {
      await assertOwnRun(dir);
    } catch (error) {
      if (error instanceof Failure) return false;
      throw error;
    }
    return this.#access.isTrusted(dir, runJson);
  }
}

function withFiles(run: Run): OpenedRun {
  const { sources, record } = run;
  const snapshots = new SourceSnapshots(sources, record.config.sources);
  return { run, snapshots, folders: new CorpusFolders(corpusRoots(sources)) };
}
