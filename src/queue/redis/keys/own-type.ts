import type { RedisLink } from '../link.ts';
import { retryWhileTransient } from '../retry-while-transient.ts';

/** Whether Redis refused a command because the key holds a value of the wrong type. */
export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}

const REMOVE_UNLESS = `
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' or kind == ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])`;

/**
 * Runs a command on one of our keys. If the key holds a value of the wrong type, removes it and tries again: the
 * processes that own its content write it again. Only for idempotent commands.
 */
export async function withKey<T>(
  link: RedisLink,
  { key, type }: { readonly key: string; readonly type: 'set' | 'hash' | 'list' },
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
