import type { RedisLink } from './link.ts';
import { retryWhileTransient } from './retry-while-transient.ts';

/** What PTTL gives for a key that has no end. */
const NO_END = -1;

/**
 * Makes sure that a key lasts no longer than it was made to, in milliseconds. Redis keeps a key's end as a time of day: when
 * its clock is set back by half an hour, what a process left behind would last for half an hour more. A key without an
 * end, which no process of ours writes, is given one.
 */
export async function endInTime(
  link: RedisLink,
  key: string,
  lastsMs: number,
  signal: AbortSignal,
): Promise<void> {
  const left = await retryWhileTransient(() => link.redis.pttl(key), signal);
  if (left > lastsMs || left === NO_END)
    await retryWhileTransient(() => link.redis.pexpire(key, lastsMs), signal);
}
