import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** Memory use of a Redis server. */
export interface Memory {
  readonly usedBytes: number;
  /** `maxmemory`; null: unlimited. */
  readonly maxBytes: number | null;
}

/** Reads a server's memory use. At `maxBytes` the server refuses commands that need more. */
export async function readMemory(link: RedisLink, signal: AbortSignal): Promise<Memory> {
  const info = await retryWhileTransient(() => link.redis.info('memory'), signal);
  const maxBytes = valueOf(info, 'maxmemory');
  return { usedBytes: valueOf(info, 'used_memory'), maxBytes: maxBytes === 0 ? null : maxBytes };
}

function valueOf(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
}
