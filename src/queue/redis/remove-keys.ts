import { escapeGlob } from './keys/glob.ts';
import type { RedisLink } from './link.ts';
import { retryWhileTransient } from './retry-while-transient.ts';

/**
 * All at once, because of what is removed piece by piece something added meanwhile could stay behind half. It looks at
 * every key of the database: a fleet has some hundred a run.
 */
const REMOVE_KEYS = `
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('UNLINK', key) end
return 0`;

/** Removes every key below one, which is given in its parts. */
export async function removeKeysBelow(
  link: RedisLink,
  parts: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const pattern = `${escapeGlob(link.key(...parts))}:*`;
  await retryWhileTransient(() => link.redis.eval(REMOVE_KEYS, 0, pattern), signal);
}
