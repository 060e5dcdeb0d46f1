import { FileTooLargeError, NotRegularFileError, openFile, readWholeFile } from '../../files/open-file.ts';
import { usageError } from '../usage-error.ts';

const OTHERS = 0o007;

interface KeyFile {
  /** The variable or flag that named the file. */
  readonly place: string;
  readonly maxBytes: number;
  /**
   * Whether to reject a file that every user can access. A group may read it: that is how secrets are mounted for a
   * user other than root.
   */
  readonly secret: boolean;
}

/**
 * Reads a file that holds a key. Follows links, since mounted secrets are links. Failure('usage') if it cannot be read,
 * is not a regular file, is too large, or holds a secret that every user can read or change.
 */
export async function readKeyFile(path: string, { place, maxBytes, secret }: KeyFile): Promise<string> {
  try {
    const handle = await openFile(path, 'follow');
    const { mode } = await handle.stat().finally(() => handle.close());
    if (secret && (mode & OTHERS) !== 0)
      throw usageError(
        place,
        `${path} is open to every user: chmod 600 it, or mount the secret with mode 0440`,
      );
    return (await readWholeFile(path, { maxBytes, links: 'follow' })).toString();
  } catch (error) {
    if (error instanceof FileTooLargeError || error instanceof NotRegularFileError) {
      throw usageError(place, `${path} holds no key: ${error.message}`, error);
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw usageError(place, `${path} cannot be read (${code})`, error);
  }
}
