import { getSystemErrorName } from 'node:util';

/** The library's own errors that have a remedy. */
const OF_LMDB: Readonly<Record<number, string>> = {
  [-30_792]: 'the store has its largest size: run guardsweep gc',
  [-30_791]: 'too many runs use it',
};

/** Why something failed, for people: the library gives system errors by their numbers. */
export function causeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return code;
  if (typeof code !== 'number') return 'unknown error';
  if (code < 0) return OF_LMDB[code] ?? `LMDB error ${code}`;
  try {
    return getSystemErrorName(-code);
  } catch {
    return `error ${code}`;
  }
}
