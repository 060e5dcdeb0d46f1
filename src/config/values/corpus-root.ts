import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { mistake, quoted, type Located } from '../mistake.ts';

/**
 * Folders of corpora on this machine, given as `name=folder`, or as a folder that has the name of the corpus: absolute
 * paths by the name of the corpus. Failure('usage') for a path that is not there, and for a name given twice.
 */
export async function parseCorpusRoots(
  given: readonly Located<string>[],
  cwd: string,
): Promise<Map<string, string>> {
  const roots = new Map<string, string>();
  for (const { value, place } of given) {
    const [, named, folder = value] = /^([^/=]+)=(.+)$/.exec(value) ?? [];
    const absolute = resolve(cwd, folder);
    const name = named ?? basename(absolute);
    if ((await stat(absolute).catch(() => null)) === null) {
      throw mistake(place, `no such file or folder: ${quoted(folder)}`);
    }
    if (roots.has(name)) throw mistake(place, `the corpus ${quoted(name)} is given twice`);
    roots.set(name, absolute);
  }
  return roots;
}
