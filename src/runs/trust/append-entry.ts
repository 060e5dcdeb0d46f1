import { userInfo } from 'node:os';
import type { ChainedFile } from '../../files/chained-file.ts';
import { assertOwnRun } from './own-run.ts';

/** A run directory, and the name in its run.json. */
export interface RunPlace {
  readonly dir: string;
  readonly run: string;
}

/**
 * Appends a person's action on a run to a chained file; it is on disk when this resolves. Failure('usage') for a run
 * directory in which others can write; for other failures and `admit`, see `ChainedFile.append`.
 */
export async function appendEntry(
  file: ChainedFile,
  { dir, run }: RunPlace,
  what: Readonly<Record<string, unknown>>,
  admit?: () => void,
): Promise<void> {
  await assertOwnRun(dir);
  await file.append({ schema: 1, run, at: new Date().toISOString(), by: userOfProcess(), ...what }, admit);
}

/** Name of the user, or the user id if there is no name. */
export function userOfProcess(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
