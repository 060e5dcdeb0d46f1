import type { RedisLink } from '../link.ts';
import { retryWhileTransient } from '../retry-while-transient.ts';

/** Whether a server refused a command because a key holds a value of another type. */
export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}

const REMOVE_UNLESS = `
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' or kind == ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])`;

/**
 * Asks for something about one key of ours, and removes the key where it holds a value of another type: everything that
 * is kept in such keys is said again by those it is about. Only for commands that can be sent twice.
 */
export async function withKey<T>(
  link: RedisLink,
  { key, type }: { readonly key: string; readonly type: 'set' | 'hash' },
  ask: (key: string) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await retryWhileTransient(() => ask(key), signal);
    } catch (error) {
      if (!isWrongType(error)) throw error;
      await retryWhileTransient(() => link.redis.eval(REMOVE_UNLESS, 1, key, type), signal);
      link.skipped.skip(key, 'was of the wrong type; removed');
    }
  }
}
