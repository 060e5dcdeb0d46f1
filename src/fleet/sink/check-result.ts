import type { RunConfig } from '../../config/run-config.ts';
import { recordedFingerprint } from '../../domain/fingerprint.ts';
import { itemsSha256 } from '../../domain/items-hash.ts';
import { judgementsOf, type ShardResult } from '../../domain/shard.ts';
import type { PlannedShards } from './planned-shards.ts';

/** Why a result does not fit what its run planned. */
export type Mismatch =
  'not planned' | 'other pass' | 'other items' | 'incomplete' | 'other fingerprint' | 'not settled so';

/**
 * Checks an untrusted result against the plan and the configuration of its run: shard, pass and lane; one outcome per
 * planned item, and none for settled ones; everything the record says about the items; and the fingerprints. Null when it
 * fits. The codec has checked the scores.
 */
export async function mismatchOf(
  result: ShardResult,
  plan: PlannedShards,
  { expectFingerprint }: Pick<RunConfig, 'expectFingerprint'>,
): Promise<Mismatch | null> {
  const { shard, outcomes, fingerprints, snippets } = result;
  const planned = await plan.find(shard.shard);
  if (planned === null) return 'not planned';
  if (shard.pass !== planned.pass || shard.lane !== planned.lane) return 'other pass';
  if (outcomes.length !== shard.items.length) return 'incomplete';
  if (snippets !== undefined && snippets.length !== outcomes.length) return 'incomplete';
  if (!(await plan.wasFed(shard.shard, planned, itemsSha256(shard.items)))) return 'other items';
  const isWhole = shard.items.every(({ settled }, at) => (settled === null) === (outcomes[at] !== null));
  if (!isWhole) return 'incomplete';
  const whole = new Set<string | null>([null]);
  for (const { id, artifacts } of fingerprints) {
    if (recordedFingerprint(artifacts)?.id !== id) return 'other fingerprint';
    whole.add(id);
  }
  for (const judgement of judgementsOf(result)) {
    if (judgement === null) continue;
    const { fingerprint } = judgement;
    if (!whole.has(fingerprint)) return 'other fingerprint';
    if (expectFingerprint !== null && fingerprint !== expectFingerprint) return 'other fingerprint';
  }
  return null;
}
