import { LANES, type Lane } from '../../domain/item.ts';
import { forgetDeathsOf } from './death-notes.ts';
import { shardQueue } from './fleet-queues.ts';
import type { RedisLink } from './link.ts';
import { patiently } from './patience.ts';
import { removeKeysBelow } from './remove-keys.ts';

/** Feeders and sinks take no shard, so no lock of theirs can be lost. */
const NO_LOCK_MS = 30_000;

/**
 * Removes what a run that is over has left in Redis: shards that nobody has in hand, outcomes, notes of deaths. To be
 * struck off the list of runs before, so that workers add nothing to it.
 */
export async function sweepRun(link: RedisLink, run: string, signal: AbortSignal): Promise<void> {
  for (const lane of LANES) await removeShards(link, lane, run, signal);
  await removeKeysBelow(link, [`results-${run}`], signal);
  await forgetDeathsOf(run, link, signal);
}

async function removeShards(link: RedisLink, lane: Lane, run: string, signal: AbortSignal): Promise<void> {
  const before = link.key(`shards-${lane}`, `s-${run}-`);
  const keys = await patiently(() => link.redis.keys(`${before}*`), signal);
  const rests = keys.map((key) => key.slice(before.length)).filter((rest) => /^[\d-]+$/.test(rest));
  if (rests.length === 0) return;
  const queue = shardQueue(link, lane, { lockMs: NO_LOCK_MS, say: () => {} });
  try {
    for (const rest of rests) await queue.remove(`s-${run}-${rest}`, signal);
  } finally {
    await queue.close();
  }
}
