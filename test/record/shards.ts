import { type Fingerprint, makeDeclaration, makeFingerprint } from '../../src/domain/fingerprint.ts';
import { itemError, type ItemCode } from '../../src/domain/item-error.ts';
import { wholeCoverage } from '../../src/domain/coverage.ts';
import type { Item, Lane } from '../../src/domain/item.ts';
import type { Judgement, Outcome } from '../../src/domain/outcome.ts';
import type { TextRequest } from '../../src/domain/request.ts';
import { itemsSha256 } from '../../src/domain/items-hash.ts';
import { payloadSha256, type Shard, type ShardResult } from '../../src/domain/shard.ts';
import type { PlannedShard } from '../../src/ingest/plan/plan-line.ts';
import { promptItem } from '../helpers/items.ts';
import { judgement } from '../helpers/moderation.ts';

export const FINGERPRINT = fingerprint('a');

export function fingerprint(hexDigit: string): Fingerprint {
  return makeFingerprint([['test-weights', hexDigit.repeat(64)]])!;
}

/** What a guard declares that proves nothing. */
export const DECLARED = makeDeclaration([
  ['family', 'llama-guard'],
  ['model', 'llama-guard3:8b'],
])!;

/** A shard of prompts of one source. */
export function shardOf(
  shard: number,
  seqs: readonly number[],
  more: { lane?: Lane; pass?: number; path?: string } = {},
): Shard {
  const items = seqs.map((seq) => promptItem(seq, `text ${seq}`, more.path));
  return { shard, pass: more.pass ?? 1, lane: more.lane ?? 'text', items };
}

export function planLine({ shard, pass, lane, items }: Shard): PlannedShard {
  const seqs: [number, number][] = [];
  for (const { seq } of items) {
    const last = seqs.at(-1);
    if (last?.[1] === seq - 1) last[1] = seq;
    else seqs.push([seq, seq]);
  }
  return {
    shard,
    pass,
    lane,
    seqs,
    items: items.length,
    source: 0,
    from: items[0]!.source.row,
    to_source: 0,
    to: items.at(-1)!.source.row,
    payload_sha256: payloadSha256(items),
    items_sha256: itemsSha256(items),
  };
}

/** A verdict, flagged for every third item unless told otherwise. */
export function verdict(item: Item, given: Partial<Judgement> = {}): Outcome {
  const { flagged = item.seq % 3 === 0, score = flagged ? 0.93 : 0.07 } = given;
  return judgement(score, {
    flagged,
    subcategoryScores: flagged ? { hate: 0.91, privacy: 0.02 } : null,
    subcategoryFlags: flagged ? ['hate'] : null,
    fingerprint: FINGERPRINT.id,
    endpoint: 'grpc://127.0.0.1:8001',
    coverage: wholeCoverage(item.request as TextRequest),
    ...given,
  });
}

export function failed(code: ItemCode): Outcome {
  return {
    judgement: null,
    failure: {
      error: itemError(code, 'made by a test'),
      attempts: 5,
      endpoint: 'grpc://127.0.0.1:8001',
      moderatedAt: '2026-11-21T02:00:04.000Z',
    },
  };
}

export function resultOf(
  shard: Shard,
  judge: (item: Item) => Outcome = (item) => verdict(item),
): ShardResult {
  const outcomes = shard.items.map((item) => (item.settled === null ? judge(item) : null));
  return { shard, outcomes, fingerprints: [FINGERPRINT] };
}
