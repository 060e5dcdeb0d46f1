import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { plural } from '../../domain/text/plural.ts';
import { listFolder } from '../../files/folders.ts';
import { hashFile } from '../../files/hash-file.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { RUN_FILES, commitsName, epochOf, finalNameOf } from '../../files/run-files.ts';
import type { Chain } from '../log/chain.ts';

/** Files that desktops leave in folders opened in a file manager. */
const DESKTOP_FILES: ReadonlySet<string> = new Set(['.DS_Store', '.directory', 'Thumbs.db', 'desktop.ini']);

/** NFS "silly rename": a file that was deleted while it was open. */
const DELETED_ON_NFS = /^\.nfs[0-9a-f]{8,32}$/;

/**
 * Files not listed in the manifest: those that authenticate the other files, the report, which names the manifest, the
 * note of a purge, and a source that was read from stdin.
 */
const UNLISTED: ReadonlySet<string> = new Set([
  RUN_FILES.manifest,
  RUN_FILES.manifestHash,
  RUN_FILES.manifestSignature,
  RUN_FILES.report,
  RUN_FILES.purged,
  RUN_FILES.stdin,
]);

/** `log` is listed file by file; the others are not part of the record. */
const FOLDERS: ReadonlySet<string> = new Set([RUN_FILES.log, RUN_FILES.control, RUN_FILES.review]);

const LOG_PREFIX = `${RUN_FILES.log}/`;

/**
 * Checks that a run directory holds exactly the files its manifest lists, with the listed sizes. The plan and logs of
 * older epochs may be longer: an overtaken writer may have appended what does not count.
 * Failure('internal') names the first file that is missing, of another size, or not listed.
 */
export async function checkListing(runDir: string, manifest: Manifest): Promise<void> {
  const logs = await listFolder(join(runDir, RUN_FILES.log));
  const newer = logs.find((name) => (epochOf(name) ?? 0) > manifest.epoch);
  if (newer !== undefined) {
    throw broken(
      `${LOG_PREFIX}${newer} is newer than ${RUN_FILES.manifest}: the run was continued and not finished; resume it`,
    );
  }
  const listed = new Set<string>();
  for (const { path, bytes } of manifest.files) {
    if (listed.has(path)) throw broken(`${RUN_FILES.manifest} lists ${path} twice`);
    listed.add(path);
    const size = await sizeOf(runDir, path);
    if (size === null) throw broken(`${path} is missing`);
    if (size < bytes || (size > bytes && !mayGrow(path, manifest))) {
      throw broken(`${path} has ${size} ${plural(size, 'byte')}, but had ${bytes} when the run was finished`);
    }
  }
  for (const name of await listFolder(runDir)) {
    if (UNLISTED.has(name) || FOLDERS.has(name) || listed.has(name) || isLeftBehind(name, '', listed))
      continue;
    throw broken(`${name} is not part of the record: ${RUN_FILES.manifest} does not list it`);
  }
  for (const name of logs) {
    const path = LOG_PREFIX + name;
    const epoch = epochOf(name);
    if (listed.has(path) || isLeftBehind(name, LOG_PREFIX, listed)) continue;
    if (epoch === null || epoch === manifest.epoch) {
      throw broken(`${path} is not part of the record: ${RUN_FILES.manifest} does not list it`);
    }
  }
}

/**
 * Whether a file that the manifest does not list is an OS junk file or the temporary file of a writer that died.
 * `folder` ends in a slash, or is empty for the run directory itself.
 */
function isLeftBehind(name: string, folder: string, listed: ReadonlySet<string>): boolean {
  if (DESKTOP_FILES.has(name) || DELETED_ON_NFS.test(name)) return true;
  // AppleDouble: macOS keeps attributes in a sibling file where the file system cannot store them.
  const beside = name.startsWith('._') ? name.slice(2) : null;
  if (beside !== null)
    return DESKTOP_FILES.has(beside) || UNLISTED.has(beside) || listed.has(folder + beside);
  const final = finalNameOf(name);
  return folder === '' && final !== null && (UNLISTED.has(final) || listed.has(final));
}

/** Checks that the manifest lists every file that a record needs. */
export function checkCoverage(chain: Chain, manifest: Manifest): void {
  const listed = new Set(manifest.files.map(({ path }) => path));
  const needed: string[] = [
    RUN_FILES.run,
    RUN_FILES.sources,
    RUN_FILES.sourceHashes,
    RUN_FILES.skipped,
    RUN_FILES.plan,
    RUN_FILES.verdicts,
    RUN_FILES.errors,
  ];
  for (const part of chain.parts) {
    needed.push(LOG_PREFIX + commitsName(part.epoch));
    for (const segment of part.segments.keys()) needed.push(LOG_PREFIX + segment);
  }
  for (const path of [...needed, RUN_FILES.summary]) {
    if (!listed.has(path)) throw broken(`${RUN_FILES.manifest} does not list ${path}`);
  }
}

/** Checks the hash of every file that the manifest lists; `known` has hashes computed before, by name. */
export async function checkHashes(
  runDir: string,
  manifest: Pick<Manifest, 'files'>,
  signal: AbortSignal,
  known: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  for (const { path, bytes, sha256 } of manifest.files) {
    const found = known.get(path) ?? (await hashFile(join(runDir, path), { signal, bytes })).sha256;
    if (found !== sha256) throw broken(`${path} does not have the hash that ${RUN_FILES.manifest} names`);
  }
}

function mayGrow(path: string, manifest: Manifest): boolean {
  // In the first epoch, there is no earlier writer that could have been overtaken.
  if (path === RUN_FILES.plan) return manifest.epoch > 1;
  const epoch = path.startsWith(LOG_PREFIX) ? epochOf(path.slice(LOG_PREFIX.length)) : null;
  return epoch !== null && epoch < manifest.epoch;
}

async function sizeOf(runDir: string, path: string): Promise<number | null> {
  try {
    const found = await lstat(join(runDir, path));
    return found.isFile() ? found.size : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function broken(what: string): Failure {
  return new Failure('internal', what);
}
