import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Names for files that are made of others, each of them once. */
export class OutputNames {
  readonly #taken = new Set<string>();

  /**
   * The name of the file that is made of the one at `path`: its own with another extension, and a number before that
   * when an earlier one has that name, whatever their case. It leads out of no folder.
   */
  next(path: string, extension: string): string {
    const stem = basename(path).replace(/(?<=.)\.[^.]*$/, '');
    const own = stem === '' || stem === '.' || stem === '..' ? 'file' : stem;
    let name = `${own}.${extension}`;
    for (let number = 2; this.#taken.has(name.toLowerCase()); number++)
      name = `${own}-${number}.${extension}`;
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

/** Writes a file whole or not at all; a link that bears its name is replaced, not followed. */
export async function writeInPlace(path: string, bytes: Buffer): Promise<void> {
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, bytes, { flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
