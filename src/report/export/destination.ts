import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join, parse } from 'node:path';
import picomatch from 'picomatch';
import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { encodePath, decodePath } from '../../domain/file-path.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import { isInside, realPath } from '../../files/open-inside.ts';
import { findEnclosingRunDirectory } from '../../files/folders.ts';

/** Absolute paths of an export: the corpus, and two files next to it. */
export interface Destination {
  readonly out: string;
  readonly rejected: string;
  readonly manifest: string;
}

/**
 * Paths of an export: `out.rejected.jsonl` and `out.export.json` next to `out.jsonl` or `out.csv.gz`. Both names are
 * the same whether `out` becomes a file or a folder.
 */
export function destinationOf(out: string): Destination {
  const name = basename(out).replace(/(?<=.)\.gz$/i, '');
  const stem = join(dirname(out), parse(name).name);
  return { out, rejected: `${stem}.rejected.jsonl`, manifest: `${stem}.export.json` };
}

/**
 * Failure('usage') unless an export can be written there: the paths must be free, their folder must exist, and they
 * must be outside of run directories and of the source folders, where the next run would find them.
 */
export async function assertFree(
  destination: Destination,
  sources: readonly Pick<SourceConfig, 'path'>[],
): Promise<void> {
  for (const path of Object.values(destination) as string[]) await assertNothingAt(path);
  const { out } = destination;
  const folder = dirname(out);
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw refused(folder, 'is not a folder');
  if ((await findEnclosingRunDirectory(out)) !== null) throw refused(out, 'is in a run directory');
  const real = await realPath(encodePath(folder));
  for (const { path } of sources) {
    const { base, isGlob } = picomatch.scan(path);
    const root = encodePath(isGlob ? base : path);
    if ((await stat(decodePath(root)).catch(() => null))?.isDirectory() !== true) continue;
    if (isInside(real, await realPath(root))) {
      throw refused(
        out,
        'is in a folder of the sources, where the next run would find it: name another place',
      );
    }
  }
}

/** Failure('usage') if the path exists. */
export async function assertNothingAt(path: string): Promise<void> {
  if ((await lstat(path).catch(() => null)) === null) return;
  throw refused(path, 'exists: remove it, or name another place');
}

function refused(path: string, why: string): Failure {
  return new Failure('usage', `${escapeText(path)} ${why}`);
}
