import type { RedisLink } from './link.ts';
import { retryWhileTransient } from './retry-while-transient.ts';

/** The reply of PTTL for a key without an expiry. */
const NO_END = -1;

/**
 * Limits the time to live of a key to `lastsMs`. Redis stores an expiry as wall-clock time: when its clock is set back
 * by half an hour, keys live for half an hour longer. A key without an expiry, which we never write, gets one.
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
