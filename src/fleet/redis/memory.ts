import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** How full a server is. */
export interface Memory {
  readonly usedBytes: number;
  /** `maxmemory`; null: it has no bound. */
  readonly mostBytes: number | null;
}

/** Asks a server how full it is. From `mostBytes` on it refuses whatever would need more. */
export async function readMemory(link: RedisLink, signal: AbortSignal): Promise<Memory> {
  const info = await retryWhileTransient(() => link.redis.info('memory'), signal);
  const mostBytes = valueOf(info, 'maxmemory');
  return { usedBytes: valueOf(info, 'used_memory'), mostBytes: mostBytes === 0 ? null : mostBytes };
}

function valueOf(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
}
