import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { mistake, quoted, type Located } from '../mistake.ts';

/** Absolute paths of folders. Failure('usage') for a path at which there is none. */
export async function parseFolders(given: readonly Located<string>[], folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const { value, place } of given) {
    const path = resolve(folder, value);
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() !== true) throw mistake(place, `no such folder: ${quoted(value)}`);
    paths.push(path);
  }
  return paths;
}
