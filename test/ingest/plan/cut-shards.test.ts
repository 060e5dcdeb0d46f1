import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/config/run-config.ts';
import { type Item, chooseLane } from '../../../src/domain/item.ts';
import { requestBytes, type Turn } from '../../../src/domain/request.ts';
import { itemsSha256 } from '../../../src/domain/items-hash.ts';
import { payloadSha256 } from '../../../src/domain/shard.ts';
import { judgedItem, promptItem, settledItem } from '../../helpers/items.ts';
import { type CutShard, MAX_LAG_ITEMS, ShardCutter } from '../../../src/ingest/plan/cut-shards.ts';

/** One step of a corpus: a text of some size, a settled item, a conversation judged whole, or turn by turn. */
type Step =
  | { readonly kind: 'text'; readonly bytes: number }
  | { readonly kind: 'whole'; readonly bytes: number }
  | { readonly kind: 'settled' }
  | { readonly kind: 'turns'; readonly turns: number; readonly bytes: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), bytes: fc.integer({ min: 1, max: 120 }) }),
  fc.record({ kind: fc.constant('whole' as const), bytes: fc.integer({ min: 1, max: 120 }) }),
  fc.record({ kind: fc.constant('settled' as const) }),
  fc.record({
    kind: fc.constant('turns' as const),
    turns: fc.integer({ min: 1, max: 9 }),
    bytes: fc.integer({ min: 1, max: 20 }),
  }),
);

function itemsOf(steps: readonly Step[]): Item[] {
  const items: Item[] = [];
  for (const each of steps) {
    if (each.kind === 'settled') items.push(settledItem(items.length, 'MALFORMED_ROW'));
    else if (each.kind === 'text') items.push(promptItem(items.length, 'x'.repeat(each.bytes)));
    else {
      const turns = each.kind === 'whole' ? 1 : each.turns;
      const messages = Array.from({ length: turns }, (): Turn => ['user', 'x'.repeat(each.bytes)]);
      const conversation = each.kind === 'whole' ? null : items.length;
      for (let turn = 1; turn <= turns; turn++) {
        const request = { requestType: 'multiturn', modality: 'text', messages, turns: turn } as const;
        items.push(judgedItem(items.length, { ...request, conversation }));
      }
    }
  }
  return items;
}

function cutAll(items: readonly Item[], limits: { shardItems: number; shardBytes: number }): CutShard[] {
  const cutter = new ShardCutter(
    { ...DEFAULT_LIMITS, ...limits },
    { firstShard: 5, pass: 2, planned: new Map() },
  );
  const cut = items.flatMap((item) => cutter.add(item, 3));
  return [...cut, ...cutter.end()];
}

/** Content of a shard, in which a conversation travels once. */
function contentBytes(items: readonly Item[]): number {
  let bytes = 0;
  items.forEach(({ request }, index) => {
    if (request === null) return;
    const next = items[index + 1]?.request;
    const sameUnit =
      request.requestType === 'multiturn' &&
      request.conversation !== null &&
      next?.requestType === 'multiturn' &&
      next.conversation === request.conversation;
    if (!sameUnit) bytes += requestBytes(request);
  });
  return bytes;
}

function conversationOf(item: Item): number | null {
  return item.request?.requestType === 'multiturn' ? item.request.conversation : null;
}

describe('cutting shards', () => {
  const limits = fc.record({
    shardItems: fc.integer({ min: 1, max: 8 }),
    shardBytes: fc.integer({ min: 1, max: 200 }),
  });

  test('is a partition within the bounds, in order, with conversations whole', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), limits, (steps, bounds) => {
        const items = itemsOf(steps);
        const cut = cutAll(items, bounds);
        const shards = cut.map(({ shard }) => shard);
        const seqs = shards.flatMap((shard) => shard.items.map(({ seq }) => seq));
        expect([...seqs].sort((a, b) => a - b)).toEqual(items.map(({ seq }) => seq));
        expect(shards.map(({ shard }) => shard)).toEqual(shards.map((_, index) => 5 + index));
        for (const lane of ['text', 'chat'] as const) {
          const ofLane = shards.filter((shard) => shard.lane === lane).flatMap((shard) => shard.items);
          expect(ofLane).toEqual(items.filter((item) => chooseLane(item) === lane));
        }
        const shardOf = new Map<number, number>();
        for (const { shard, items: held } of shards) {
          const units = new Set(held.map((item) => conversationOf(item) ?? `item ${item.seq}`)).size;
          if (units > 1) {
            expect(held.length).toBeLessThanOrEqual(bounds.shardItems);
            expect(contentBytes(held)).toBeLessThanOrEqual(bounds.shardBytes);
          }
          for (const item of held) {
            const conversation = conversationOf(item);
            if (conversation !== null) expect(shardOf.get(conversation) ?? shard).toBe(shard);
            if (conversation !== null) shardOf.set(conversation, shard);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('gives lines that say what the shards hold', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), limits, (steps, bounds) => {
        for (const { shard, line } of cutAll(itemsOf(steps), bounds)) {
          const seqs = line.seqs.flatMap(([first, last]) =>
            Array.from({ length: last - first + 1 }, (_, index) => first + index),
          );
          expect(seqs).toEqual(shard.items.map(({ seq }) => seq));
          line.seqs.forEach(([first], index) => {
            if (index > 0) expect(first).toBeGreaterThan(line.seqs[index - 1]![1] + 1);
          });
          expect(line).toMatchObject({
            shard: shard.shard,
            pass: 2,
            lane: shard.lane,
            items: shard.items.length,
            payload_sha256: payloadSha256(shard.items),
            items_sha256: itemsSha256(shard.items),
            source: 3,
            from: shard.items[0]!.source.row,
            to_source: 3,
            to: shard.items.at(-1)!.source.row,
          });
        }
      }),
    );
  });

  test('closes a shard that too many items of other lanes have passed', () => {
    const items = itemsOf([
      { kind: 'whole', bytes: 1 },
      ...Array.from({ length: 2 * MAX_LAG_ITEMS }, () => ({ kind: 'text', bytes: 1 }) as const),
    ]);
    const cutter = new ShardCutter(
      { ...DEFAULT_LIMITS, shardItems: 100_000 },
      { firstShard: 0, pass: 1, planned: new Map() },
    );
    const cutAt = items.findIndex((item) => cutter.add(item, 0).some(({ shard }) => shard.lane === 'chat'));
    expect(cutAt).toBe(MAX_LAG_ITEMS);
  });
});
