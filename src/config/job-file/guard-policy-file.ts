import type { GuardPolicy } from '../../domain/guard/guard-family.ts';
import { type WithOrigin, usageError } from '../usage-error.ts';
import { readTextFile } from '../yaml-file.ts';

/** Characters of a policy: about 16,000 tokens, which every request carries. */
const MAX_CHARS = 64 * 1024;

/** Reads a written policy. Failure('usage') when it cannot be read, is blank or too long. `named` as in `readTextFile`. */
export async function readGuardPolicy(absolute: string, named: WithOrigin<string>): Promise<GuardPolicy> {
  const { text, sha256 } = await readTextFile(absolute, named);
  if (text.trim() === '') throw usageError(named.value, 'is blank, so there is nothing to judge by');
  if (text.length > MAX_CHARS)
    throw usageError(named.value, `has more than ${MAX_CHARS} characters, which every request would carry`);
  return { sha256, text };
}
