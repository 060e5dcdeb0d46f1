import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/config/run-config.ts';
import { type Item, chooseLane } from '../../../src/domain/item.ts';
import { requestBytes, type Turn } from '../../../src/domain/request.ts';
import { itemsSha256 } from '../../../src/domain/items-hash.ts';
import { payloadSha256 } from '../../../src/domain/shard.ts';
import { judgedItem, promptItem, settledItem } from '../../helpers/items.ts';
import { type CutShard, MAX_LAG_ITEMS, ShardCutter } from '../../../src/ingest/plan/cut-shards.ts';

const upTo = (max: number) => fc.integer({ min: 1, max });

const kind = fc.constantFrom('text', 'settled', 'whole', 'turns');
/** One step of a corpus: a text of some size, a settled item, or a conversation judged whole, or turn by turn. */
const step = fc.record({ kind, bytes: upTo(120), turns: upTo(9) });
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;

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

const BEGUN = { firstShard: 5, pass: 2, planned: new Map() };

function cutAll(items: readonly Item[], limits: { shardItems: number; shardBytes: number }): CutShard[] {
  const cutter = new ShardCutter({ ...DEFAULT_LIMITS, ...limits }, BEGUN);
  const cut = items.flatMap((item) => cutter.add(item, 3));
  return [...cut, ...cutter.end()];
}

/** Content of a shard, in which a conversation travels once. */
function contentBytes(items: readonly Item[]): number {
  const conversations = items.map(conversationOf);
  const last = (at: number) => conversations[at] === null || conversations[at + 1] !== conversations[at];
  return items.reduce((sum, { request }, at) => sum + (request && last(at) ? requestBytes(request) : 0), 0);
}

function conversationOf(item: Item): number | null {
  return item.request?.requestType === 'multiturn' ? item.request.conversation : null;
}

describe('cutting shards', () => {
  const limits = fc.record({ shardItems: upTo(8), shardBytes: upTo(200) });

  test('is a partition within the bounds, in order, with conversations whole, as the lines of the plan say', () => {
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
        for (const { shard, line } of cut) {
          const lineSeqs = line.seqs.flatMap(([from, to]) =>
            Array.from({ length: to - from + 1 }, (_, index) => from + index),
          );
          expect(lineSeqs).toEqual(shard.items.map(({ seq }) => seq));
          expect(line).toMatchObject({
            shard: shard.shard,
            pass: 2,
            lane: shard.lane,
            items: shard.items.length,
            payload_sha256: payloadSha256(shard.items),
            items_sha256: itemsSha256(shard.items),
            source: 3,
            from: shard.items[0]!.source.row,
            to: shard.items.at(-1)!.source.row,
          });
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
      { numRuns: 200 },
    );
  });

  test('closes a shard that too many items of other lanes have passed', () => {
    const texts = Array<Step>(2 * MAX_LAG_ITEMS).fill({ kind: 'text', bytes: 1, turns: 1 });
    const items = itemsOf([{ kind: 'whole', bytes: 1, turns: 1 }, ...texts]);
    const cutter = new ShardCutter({ ...DEFAULT_LIMITS, shardItems: 100_000 }, BEGUN);
    const cutAt = items.findIndex((item) => cutter.add(item, 0).some(({ shard }) => shard.lane === 'chat'));
    expect(cutAt).toBe(MAX_LAG_ITEMS);
  });
});
