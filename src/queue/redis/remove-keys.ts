import type { RedisLink } from './link.ts';
import { retryWhileTransient } from './retry-while-transient.ts';

/** Escapes a string to match literally in a pattern of KEYS or SCAN. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[*?[\]\\]/g, '\\$&');
}

/**
 * Atomic, because values added while keys are removed one by one could be left half removed. KEYS visits every key of
 * the database; a fleet has a few hundred per run.
 */
const REMOVE_KEYS = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('UNLINK', key) end
return 0`;

/** Removes every key below the one made of `parts`. */
export async function removeKeysBelow(
  link: RedisLink,
  parts: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const pattern = `${escapeGlob(link.key(...parts))}:*`;
  await retryWhileTransient(() => link.redis.eval(REMOVE_KEYS, 0, pattern), signal);
}
