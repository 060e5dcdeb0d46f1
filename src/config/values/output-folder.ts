import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { mistake, quoted, type Located } from '../mistake.ts';

/** The absolute path of a folder that exists or can be made. Failure('usage') where something else is in its place. */
export async function parseOutputFolder({ value, place }: Located<string>, folder: string): Promise<string> {
  if (value === '') throw mistake(place, 'the path is empty');
  const absolute = resolve(folder, value);
  // Of a folder that is not there yet, the nearest path above that exists must be a folder.
  for (let path = absolute; ; path = dirname(path)) {
    const found = await stat(path).catch(() => null);
    if (found === null && path !== dirname(path)) continue;
    if (found?.isDirectory() === true) return absolute;
    throw mistake(place, `${quoted(path)} is not a folder`);
  }
}
