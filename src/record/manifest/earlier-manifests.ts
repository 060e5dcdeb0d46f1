import type { FileEntry, Manifest } from './manifest.ts';
import { passOfManifest } from '../../files/run-files.ts';

/** The newest manifest of an earlier pass among the files that a manifest lists; null when there is none. */
export function previousManifest(files: readonly FileEntry[]): Manifest['previous'] {
  const latest = files
    .filter(({ path }) => passOfManifest(path) !== null)
    .reduce<FileEntry | null>(
      (a, b) => (a === null || passOfManifest(a.path)! < passOfManifest(b.path)! ? b : a),
      null,
    );
  return latest === null ? null : { path: latest.path, sha256: latest.sha256 };
}
