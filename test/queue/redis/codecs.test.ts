import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeFingerprint } from '../../../src/domain/fingerprint.ts';
import type { Item } from '../../../src/domain/item.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { ROLES, type ItemRequest, type Turn } from '../../../src/domain/request.ts';
import { sinkJobCodec, type SinkJob } from '../../../src/queue/redis/result-job.ts';
import { shardJobCodec, type ShardJob } from '../../../src/queue/redis/shard-job.ts';
import { judgedItem, settledItem } from '../../helpers/items.ts';

/** Any UTF-16 string, lone surrogates included: what a corpus can hold. */
const text = fc.string({ unit: 'binary' });
const turn = fc.tuple(fc.constantFrom(...ROLES), text) as fc.Arbitrary<Turn>;

const requests: fc.Arbitrary<ItemRequest[]> = fc.oneof(
  text.map((content): ItemRequest[] => [{ requestType: 'prompt', modality: 'text', text: content }]),
  fc
    .tuple(fc.option(text), text)
    .map(([prompt, response]): ItemRequest[] => [
      { requestType: 'response', modality: 'text', prompt, response },
    ]),
  fc
    .record({
      modality: fc.constantFrom('image' as const, 'audio' as const),
      path: text,
      caption: fc.option(text),
    })
    .map(({ modality, path, caption }): ItemRequest[] => [
      {
        requestType: 'prompt',
        modality,
        file: { corpus: 'uploads', path, sha256: 'c'.repeat(64), bytes: 12 },
        caption,
      },
    ]),
  // The turns of one conversation share it.
  fc.array(turn, { minLength: 1, maxLength: 6 }).map((messages) =>
    messages.map((_, index): ItemRequest => ({
      requestType: 'multiturn',
      modality: 'text',
      messages,
      turns: index + 1,
      conversation: 0,
    })),
  ),
);

const items: fc.Arbitrary<Item[]> = fc
  .array(fc.oneof(requests, fc.constant(null)), { minLength: 1, maxLength: 8 })
  .map((groups) =>
    groups
      .flatMap((group): (ItemRequest | null)[] => group ?? [null])
      .map((request, seq) =>
        request === null ? settledItem(seq, 'MALFORMED_ROW') : judgedItem(seq, request),
      ),
  );

const overTheWire = (data: object): unknown => JSON.parse(JSON.stringify(data));

it('a shard comes out of Redis as it went in, each conversation once', () => {
  fc.assert(
    fc.property(items, (held) => {
      const job: ShardJob = {
        run: '20261121T020000Z-test-ab12',
        epoch: 3,
        expectFingerprint: null,
        judging: { frames: 3, longAudio: 'truncate', longText: 'error' },
        landmarks: { uploads: { path: 'a.jpg', bytes: 12 } },
        shard: { shard: 7, pass: 1, lane: 'chat', items: held },
      };
      const decoded = shardJobCodec.decode(overTheWire(shardJobCodec.encode(job)));
      expect(decoded).toEqual(job);
      const conversations = (list: readonly Item[]): number =>
        new Set(list.map(({ request }) => (request?.requestType === 'multiturn' ? request.messages : null)))
          .size;
      expect(conversations(decoded.shard.items)).toBe(conversations(held));
    }),
  );
});

it('a result comes out as it went in but for the content, of which there is none', () => {
  const fingerprint = makeFingerprint([['weights', 'a'.repeat(64)]])!;
  const score = fc.double({ min: 0, max: 1, noNaN: true });
  const outcome = (item: Item, value: number): Outcome | null =>
    item.error !== null
      ? null
      : {
          judgement: {
            score: value,
            flagged: value > 0.5,
            subcategoryScores: value > 0.5 ? { hate: value } : null,
            subcategoryFlags: value > 0.5 ? ['hate'] : null,
            fingerprint: fingerprint.id,
            endpoint: 'embedded:',
            latencyMs: value * 10,
            attempts: 1,
            cacheUsage: null,
            moderatedAt: '2026-01-01T00:00:00.000Z',
            coverage: { unit: 'chars', judged: 1, total: 1, worst_at: null },
          },
          failure: null,
        };
  fc.assert(
    fc.property(items, score, (held, value) => {
      const job: SinkJob = {
        kind: 'result',
        run: 'r',
        epoch: 1,
        result: {
          shard: { shard: 7, pass: 2, lane: 'text', items: held },
          outcomes: held.map((item) => outcome(item, value)),
          fingerprints: [fingerprint],
        },
      };
      const wire = JSON.stringify(sinkJobCodec.encode(job));
      const decoded = sinkJobCodec.decode(JSON.parse(wire)) as typeof job;
      expect(decoded.result.outcomes).toEqual(job.result.outcomes);
      const head = (item: Item): unknown => [
        item.seq,
        item.id,
        item.source,
        item.contentSha256,
        item.error,
        item.request?.requestType ?? null,
        item.request?.modality ?? null,
      ];
      expect(decoded.result.shard.items.map(head)).toEqual(held.map(head));
    }),
  );
  const marked = judgedItem(0, { requestType: 'prompt', modality: 'text', text: 'marker-of-content' });
  const result = {
    shard: { shard: 0, pass: 1, lane: 'text' as const, items: [marked] },
    outcomes: [outcome(marked, 0.1)],
    fingerprints: [],
  };
  expect(JSON.stringify(sinkJobCodec.encode({ kind: 'result', run: 'r', epoch: 1, result }))).not.toContain(
    'marker',
  );
});

it.each([{}, { v: 2 }, null, 'x'])('what is no job of this version is refused: %j', (data) => {
  expect(() => shardJobCodec.decode(data)).toThrow();
  expect(() => sinkJobCodec.decode(data)).toThrow();
});
