import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { systemPath } from '../../domain/file-path.ts';
import { isThere } from '../../files/is-there.ts';

/** What Node makes of bytes in an argument that are not UTF-8. */
const LOST = '\ufffd';

/**
 * The path of a file that was named on the command line, as functions of the file system take it. A name that is not
 * UTF-8 is found by what is left of it, where one file alone can be meant, or by its recorded form (`\xHH` for a
 * byte). What is not there stays as it is. Failure('usage') where several files can be meant.
 */
export async function pathOfNamed(path: string): Promise<string | Buffer> {
  if (await isThere(path)) return path;
  if (!path.includes(LOST)) {
    const recorded = systemPath(path);
    return (await isThere(recorded)) ? recorded : path;
  }
  const namesakes = await namesakesOf(path);
  if (namesakes.length > 1) {
    throw new Failure(
      'usage',
      `${namesakes.length} files can be meant by ${JSON.stringify(path)}: write its bytes that are not UTF-8 as \\xHH`,
    );
  }
  return namesakes[0] ?? path;
}

/** Paths of the files whose names read like this one. */
async function namesakesOf(path: string): Promise<Buffer[]> {
  const folder = dirname(path);
  const entries = await readdir(folder, { encoding: 'buffer' }).catch(() => []);
  return entries
    .filter((entry) => entry.toString() === basename(path))
    .map((entry) => Buffer.concat([Buffer.from(join(folder, '/')), entry]));
}
