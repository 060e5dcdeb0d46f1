import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { decodePath } from '../../domain/file-path.ts';
import { FILE_MODE } from '../../files/create-file.ts';
import { pathExists } from '../../files/folders.ts';

/** What Node makes of bytes in an argument that are not UTF-8. */
const LOST = '\ufffd';

/**
 * The path of a file that was named on the command line, as functions of the file system take it. A name that is not
 * UTF-8 is found by what is left of it, where one file alone can be meant, or by its recorded form (`\xHH` for a
 * byte). What is not there stays as it is. Failure('usage') where several files can be meant.
 */
export async function pathOfNamed(path: string): Promise<string | Buffer> {
  if (await pathExists(path)) return path;
  if (!path.includes(LOST)) {
    const recorded = decodePath(path);
    return (await pathExists(recorded)) ? recorded : path;
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

/** Limit of most file systems. */
const MAX_NAME_BYTES = 255;

/** Unique names for output files. */
export class OutputNames {
  readonly #taken = new Set<string>();
  /** The next number to try for a name that is taken. */
  readonly #numbers = new Map<string, number>();

  /**
   * Names the output file for the input at `path`: the same name with another extension, with a number before that if
   * the name is taken. Names that differ only in case or Unicode normalization count as equal. A name that is too long
   * for a file system is cut first. The name has no path separators and is never `.` or `..`.
   */
  next(path: string, extension: string): string {
    // linear: it is applied to the name of a file, which has 255 bytes at most.
    const stem = basename(path).replace(/(?<=.)\.[^.]*$/, '');
    const own = stem === '' || stem === '.' || stem === '..' ? 'file' : stem;
    const first = withEnding(own, `.${extension}`);
    if (this.#take(first)) return first;
    for (let number = this.#numbers.get(keyOf(first)) ?? 2; ; number++) {
      const name = withEnding(own, `-${number}.${extension}`);
      if (!this.#take(name)) continue;
      this.#numbers.set(keyOf(first), number + 1);
      return name;
    }
  }

  /** Takes a name; false when it was taken before. */
  #take(name: string): boolean {
    const key = keyOf(name);
    if (this.#taken.has(key)) return false;
    this.#taken.add(key);
    return true;
  }
}

/** File systems differ in which names they take for the same. */
function keyOf(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** The name with its ending, cut between two characters where both are too long together. */
function withEnding(name: string, ending: string): string {
  const bytes = Buffer.from(name);
  let end = Math.min(bytes.length, MAX_NAME_BYTES - Buffer.byteLength(ending));
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end) + ending;
}

/** Writes a file whole or not at all, for its owner alone; a link that bears its name is replaced, not followed. */
export async function writeInPlace(path: string, bytes: Buffer): Promise<void> {
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, bytes, { flag: 'wx', mode: FILE_MODE });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
