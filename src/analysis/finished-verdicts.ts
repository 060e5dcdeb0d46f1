import type { RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { readManifest, type Manifest } from '../record/manifest/manifest.ts';
import { assertRunDirectory, readRecord } from '../record/read-record.ts';
import { checkHashes, checkListing } from '../record/verify/verify-files.ts';

/** A finished run whose configuration and outcomes match its manifest. */
export interface FinishedVerdicts {
  /** Absolute path of the run directory. */
  readonly dir: string;
  readonly record: RunRecord;
  readonly manifest: Manifest;
}

/** Files that are read and therefore checked by hash; the others are checked by size. */
const READ: ReadonlySet<string> = new Set([RUN_FILES.run, RUN_FILES.verdictsParquet]);

/**
 * Opens a finished run to read its outcomes. Checks the manifest against its hash, and the files it reads against the
 * manifest. Failure('usage') for a path that is not a run directory, Failure('internal') for an unfinished run and for
 * a record that fails verification.
 */
export async function openFinishedVerdicts(dir: string, signal: AbortSignal): Promise<FinishedVerdicts> {
  await assertRunDirectory(dir);
  const manifest = await checkedManifest(dir, READ, signal);
  const record = await readRecord(dir);
  if (record.run !== manifest.run)
    throw new Failure('internal', `${RUN_FILES.manifest} belongs to another run`);
  return { dir, record, manifest };
}

/**
 * Reads the manifest of a finished run and checks it against its own hash, then checks the run's files against it:
 * those in `read` by hash, the others by size. Failure('internal') for an unfinished run and for a record that fails
 * verification.
 */
export async function checkedManifest(
  dir: string,
  read: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Manifest> {
  const manifest = await readManifest(dir);
  await checkListing(dir, manifest);
  const files = manifest.files.filter(({ path }) => read.has(path));
  if (files.length !== read.size) {
    throw new Failure('internal', `${RUN_FILES.manifest} does not list the files of a record`);
  }
  await checkHashes(dir, { ...manifest, files }, signal);
  return manifest;
}
