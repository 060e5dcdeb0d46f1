import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { isDiskFull } from '../../files/disk-full.ts';

/** System errors that say how the record is: a file is missing, or something else has its name. */
const ABOUT_THE_RECORD: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP']);

/** What to do about a file that cannot be read, where its permissions are not the reason. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['EMFILE', 'raise the limit of open files (ulimit -n)'],
  ['ENFILE', 'close programs that hold many files open'],
  ['EIO', 'check the disk, or copy the run to another one'],
]);

/**
 * Failure('service') for an error that says nothing about the record, since the system refused to read a file of it or
 * to write a temporary one; null for any other.
 */
export function couldNotCheck(error: unknown): Failure | null {
  let cause = error;
  while (cause instanceof Error && !('errno' in cause)) cause = cause.cause;
  if (!(cause instanceof Error)) return null;
  const { code, path } = cause as NodeJS.ErrnoException;
  if (code === undefined || ABOUT_THE_RECORD.has(code)) return null;
  const named = path === undefined ? 'a file of it' : basename(path);
  const what =
    isDiskFull(cause) || code === 'EROFS'
      ? `no room for temporary files in ${tmpdir()} (${code}): free some, or set TMPDIR to another folder`
      : `${named} cannot be read (${code}): ${REMEDIES.get(code) ?? 'make it readable'}, then verify again`;
  return new Failure('service', `the record could not be checked: ${what}`, { cause: error });
}
