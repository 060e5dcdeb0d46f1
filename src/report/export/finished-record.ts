import { createHash } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Manifest } from '../../record/manifest/manifest.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import type { Run } from '../../runs/create-run.ts';
import { openRun } from '../../runs/open-run.ts';
import { checkedManifest } from '../../analysis/checked-manifest.ts';

/** A finished run whose record was checked as far as an export relies on it. */
export interface FinishedRun {
  readonly run: Run;
  readonly manifest: Manifest;
  /** SHA-256 of manifest.json, in hex. */
  readonly manifestSha256: string;
}

/** What an export reads of a record. */
const READ: ReadonlySet<string> = new Set([RUN_FILES.run, RUN_FILES.sources, RUN_FILES.verdicts]);

/**
 * Opens a finished run, and checks the manifest against its hash, and the files of the run against the manifest: those
 * that an export reads by their hashes, the others by their sizes. Failure('usage') for a directory that is no run
 * directory, Failure('internal') for a run that is not finished and for a record that failed verification.
 */
export async function openFinishedRun(runDir: string, signal: AbortSignal): Promise<FinishedRun> {
  const run = await openRun(runDir, signal);
  const manifest = await checkedManifest(run.dir, READ, signal);
  if (manifest.run !== run.record.run || manifest.sources.length !== run.sources.length) {
    throw new Failure('internal', `${RUN_FILES.manifest} belongs to another run`);
  }
  const manifestSha256 = createHash('sha256')
    .update(await readRunFile(run.dir, RUN_FILES.manifest))
    .digest('hex');
  return { run, manifest, manifestSha256 };
}
