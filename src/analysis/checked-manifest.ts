import { Failure } from '../domain/failure.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { type Manifest, readManifest } from '../record/manifest/manifest.ts';
import { checkHashes, checkListing } from '../record/verify/verify-files.ts';

/**
 * The manifest of a finished run, checked against its own hash, and the files of the run against it: those in `read` by
 * their hashes, the others by their sizes. Failure('internal') for a run that is not finished and for a record that does
 * not hold.
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
