import { join } from 'node:path';
import pLimit from 'p-limit';
import { escapeText } from '../../domain/text/escape-text.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { RunWatch } from '../../fleet/status/run-status.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { readPurged } from '../../record/purged.ts';
import { closedSummary } from '../../record/summary/finished-summary.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { problemOf, readRunRecord } from '../../runs/open-run.ts';
import { assertOwnRun } from '../../runs/trust/own-run.ts';
import type { RunRow } from '../api/runs.ts';
import { isPlainName, isRunDirectory, type RunFolder } from './run-folder.ts';
import { runSignature } from './run-signature.ts';
import { finishedRow, openRow, unreadableRow, type KnownRun } from './run-row.ts';

/** Maximum runs listed, newest first. */
const MAX_LISTED = 1000;

/** Maximum runs that are read at a time. */
const AT_A_TIME = 4;

/** Maximum runs in progress that are followed; others are read from the beginning each time. */
const MAX_WATCHES = 64;

/** How long a run that is not in progress is assumed to be unchanged, in milliseconds. */
const FRESH_MS = 10_000;

/**
 * An unreadable run is read again after this many times the duration of the failed attempt, so a run that is being
 * created is reread soon.
 */
const RETRY_FACTOR = 10;

/** Signature of a run that could not be read, different from all others. */
const UNKNOWN = '';

interface ListedRunsOptions {
  readonly folder: RunFolder;
  /** The Redis of the fleet; `away` if it cannot be reached, null if there is none. */
  readonly link: () => RedisLink | 'away' | null;
}

interface Listed {
  /** Rows, newest first. */
  readonly rows: readonly RunRow[];
  /** Number of older runs, which are not listed. */
  readonly older: number;
}

/** The current state of a run. */
export interface CurrentRun {
  readonly row: RunRow;
  /** The latest pass. */
  readonly pass: number;
}

interface Entry extends CurrentRun {
  /** `runSignature` of the run. */
  readonly signature: string;
  /** Time by `performance.now()`. */
  checkedAt: number;
}

/** Lists the runs of a folder repeatedly, reading only what has changed since the last time. */
export class ListedRuns {
  readonly #options: ListedRunsOptions;
  readonly #limit = pLimit(AT_A_TIME);
  /** Runs that are not in progress or cannot be read. */
  readonly #entries = new Map<string, Entry>();
  readonly #watches = new Map<string, RunWatch>();
  /** Folders without a run, and when they were checked, by `performance.now()`. */
  readonly #noRuns = new Map<string, number>();
  #looking: Promise<Listed> | null = null;

  constructor(options: ListedRunsOptions) {
    this.#options = options;
  }

  /** Lists the runs. Concurrent calls share one result. Rejects if the folder cannot be read, and when aborted. */
  look(signal: AbortSignal): Promise<Listed> {
    this.#looking ??= this.#look(signal).finally(() => (this.#looking = null));
    return this.#looking;
  }

  /** The current state of a run found by `RunFolder.find`. */
  async current(run: string, signal: AbortSignal): Promise<CurrentRun> {
    this.forget(run);
    return this.#limit(() => this.#currentOf(run, signal));
  }

  /** Forgets a run, which may have changed in a way that its files do not show yet. */
  forget(run: string): void {
    this.#entries.delete(run);
    this.#noRuns.delete(run);
  }

  async #look(signal: AbortSignal): Promise<Listed> {
    const { folder } = this.#options;
    const names = await folder.names();
    const there = new Set(names);
    for (const name of this.#entries.keys()) if (!there.has(name)) this.#entries.delete(name);
    for (const name of this.#watches.keys()) if (!there.has(name)) this.#watches.delete(name);
    // If there are few, a run that is being created is listed at once.
    if (names.length <= MAX_LISTED) this.#noRuns.clear();
    for (const name of this.#noRuns.keys()) if (!there.has(name)) this.#noRuns.delete(name);
    const rows: RunRow[] = [];
    let at = 0;
    // Folders without a run do not count.
    while (rows.length < MAX_LISTED && at < names.length) {
      const batch = names.slice(at, at + MAX_LISTED - rows.length);
      at += batch.length;
      const found = await Promise.all(batch.map((name) => this.#limit(() => this.#listed(name, signal))));
      rows.push(...found.filter((row) => row !== null));
    }
    return { rows, older: names.length - at };
  }

  /** Null for a folder without a run. */
  async #listed(name: string, signal: AbortSignal): Promise<RunRow | null> {
    signal.throwIfAborted();
    const entry = this.#entries.get(name);
    if (entry !== undefined && performance.now() - entry.checkedAt < FRESH_MS) return entry.row;
    if (performance.now() - (this.#noRuns.get(name) ?? -Infinity) < FRESH_MS) return null;
    const dir = join(this.#options.folder.path, name);
    if (!(await isRunDirectory(dir))) {
      this.#noRuns.set(name, performance.now());
      return null;
    }
    if (!isPlainName(name)) {
      return unreadableRow(
        escapeText(name),
        'its name has characters other than letters, digits, dots and hyphens',
      );
    }
    return (await this.#currentOf(name, signal)).row;
  }

  /** Never fails because of a run: its error becomes part of its row. */
  async #currentOf(run: string, signal: AbortSignal): Promise<CurrentRun> {
    const dir = join(this.#options.folder.path, run);
    const startedAt = performance.now();
    try {
      const signature = await runSignature(dir);
      const entry = this.#entries.get(run);
      if (entry?.signature === signature) {
        entry.checkedAt = performance.now();
        return entry;
      }
      const current = await this.#read(run, dir, signal);
      const { state } = current.row;
      const inProgress = state === 'running' || state === 'paused';
      if (inProgress) this.#entries.delete(run);
      else {
        this.#watches.delete(run);
        this.#entries.set(run, { ...current, signature, checkedAt: performance.now() });
      }
      return current;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#watches.delete(run);
      const current = unreadable(run, problemOf(error));
      const now = performance.now();
      const checkedAt = now - FRESH_MS + RETRY_FACTOR * (now - startedAt);
      this.#entries.set(run, { ...current, signature: UNKNOWN, checkedAt });
      return current;
    }
  }

  async #read(run: string, dir: string, signal: AbortSignal): Promise<CurrentRun> {
    const record = await readRunRecord(dir);
    if (record === null) return unreadable(run, `its ${RUN_FILES.run} cannot be read`);
    const known: KnownRun = { run, record, mayChange: await this.#mayChange(dir) };
    const purged = await readPurged(dir);
    const closed = await closedSummary(dir);
    if (closed !== null) return { row: finishedRow(known, closed, purged), pass: closed.pass };
    const watch = this.#watches.get(run) ?? (await RunWatch.open(dir, signal));
    if (this.#watches.size < MAX_WATCHES) this.#watches.set(run, watch);
    const status = await watch.look(this.#options.link(), signal);
    const finished = status.state === 'finished' ? await finishedSummary(dir) : null;
    if (finished !== null) return { row: finishedRow(known, finished, purged), pass: finished.pass };
    return { row: openRow(known, status), pass: status.pass };
  }

  async #mayChange(dir: string): Promise<boolean> {
    if (!(await this.#options.folder.isWritable())) return false;
    return assertOwnRun(dir).then(
      () => true,
      () => false,
    );
  }
}

function unreadable(run: string, problem: string): CurrentRun {
  return { row: unreadableRow(run, problem), pass: 1 };
}
