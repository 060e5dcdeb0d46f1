import { pack } from 'msgpackr';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  errorWithReason,
  ITEM_CODES,
  ITEM_ERROR_REASONS,
  itemError,
  transientError,
  type ItemError,
} from '../../../src/domain/item-error.ts';
import { itemKind, type Item } from '../../../src/domain/item.ts';
import {
  ORIGINAL_ROLES,
  type RoleCounts,
  ROLES,
  type ItemRequest,
  type Turn,
} from '../../../src/domain/request.ts';
import type { Judgement, Outcome } from '../../../src/domain/outcome.ts';
import type { ShardResult } from '../../../src/domain/shard.ts';
import { packJob, unpackJob } from '../../../src/fleet/jobs/pack-job.ts';
import { CATEGORY_KEYS } from '../../../src/domain/taxonomy.ts';
import { sinkJobCodec, type ResultJob } from '../../../src/fleet/jobs/result-job.ts';
import { shardJobCodec, type ShardJob } from '../../../src/fleet/jobs/shard-job.ts';
import { conversation } from '../../helpers/guards/requests.ts';
import { judgedItem, knownItem, settledItem } from '../../helpers/items.ts';
import { judgement, MODEL } from '../../helpers/moderation.ts';

/** Any UTF-16 string, lone surrogates included: what a corpus can hold. Long ones are packed otherwise than short ones. */
const text = fc
  .tuple(fc.string({ unit: 'binary' }), fc.constantFrom(0, 0, 100, 900))
  .map(([some, more]) => `${some}\ud800${'é'.repeat(more)}`);
const turn = fc.tuple(fc.constantFrom(...ROLES), text) as fc.Arbitrary<Turn>;

const one = (request: ItemRequest): ItemRequest[] => [request];
const modality = fc.constantFrom('image' as const, 'audio' as const);
const mediaFile = text.map((path) => ({ corpus: 'uploads', path, sha256: 'c'.repeat(64), bytes: 12 }));
const chunks = fc.array(text, { minLength: 1, maxLength: 4 });

const requests: fc.Arbitrary<ItemRequest[]> = fc.oneof(
  text.map((content) => one({ requestType: 'prompt', modality: 'text', text: content })),
  fc
    .record({ prompt: fc.option(text), response: text })
    .map((given) => one({ requestType: 'response', modality: 'text', ...given })),
  fc
    .record({ modality, file: mediaFile, caption: fc.option(text) })
    .map((given) => one({ requestType: 'prompt', ...given })),
  fc
    .uint8Array({ maxLength: 40 })
    .map((bytes) => Buffer.from(bytes))
    .map((embedded) => one({ requestType: 'prompt', modality: 'image', embedded, caption: null })),
  fc
    .record({ prompt: text, chunks, cadenceChunks: fc.integer({ min: 1, max: 9 }) })
    .map((given) => one({ requestType: 'generation', modality: 'text', ...given })),
  // The turns of one conversation share it.
  fc
    .array(turn, { minLength: 1, maxLength: 6 })
    .map((messages) => messages.map((_, index) => conversation(messages, { turns: index + 1, of: 0 }))),
);

const roleCount = fc.tuple(fc.constantFrom(...ORIGINAL_ROLES), fc.integer({ min: 1, max: 9 }));
const roles = fc.option(
  fc
    .uniqueArray(roleCount, { minLength: 1, selector: ([role]) => role })
    .map((counts): RoleCounts => Object.fromEntries(counts)),
);

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const share = fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0);
const notNegative = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const NOW = '2026-01-01T00:00:00.000Z';
const endpoint = fc.constantFrom('embedded:', 'grpc://127.0.0.1:8001');
const attempts = fc.integer({ min: 0, max: 9 });

const scores = fc.record(Object.fromEntries(CATEGORY_KEYS.map((key) => [key, share])), { requiredKeys: [] });
const coverage = fc.record({
  unit: fc.constantFrom('chars' as const, 'turns' as const, 'frames' as const, 'seconds' as const),
  judged: notNegative,
  total: notNegative,
  worst_at: fc.option(number),
});
const stream = fc.record({
  chunks: fc.nat(),
  judgedChunks: fc.nat(),
  lagChunks: fc.nat(),
  lagMs: notNegative,
  firstCautionSeq: fc.option(fc.nat()),
  firstFlaggedSeq: fc.option(fc.nat()),
  shareAtCaution: fc.option(share),
  shareAtFlag: fc.option(share),
});
const judgements: fc.Arbitrary<Judgement> = fc.record({
  score: share,
  flagged: fc.boolean(),
  subcategoryScores: fc.option(scores),
  subcategoryFlags: fc.option(fc.array(text, { maxLength: 3 })),
  fingerprint: fc.constantFrom(MODEL.id, null),
  endpoint,
  latencyMs: notNegative,
  attempts,
  moderatedAt: fc.constant(NOW),
  cacheUsage: fc.option(fc.array(number, { minLength: 8, maxLength: 8 })),
  coverage,
  stream: fc.option(stream),
});

const errors: fc.Arbitrary<ItemError> = fc.oneof(
  fc.tuple(fc.constantFrom(...ITEM_CODES), text).map(([code, message]) => itemError(code, message)),
  text.map((message) => transientError('UNREADABLE_SOURCE', message)),
  fc
    .tuple(fc.constantFrom(...ITEM_ERROR_REASONS), text)
    .map(([reason, message]) => errorWithReason(reason, message)),
);

const outcomes: fc.Arbitrary<Outcome> = fc.oneof(
  judgements.map((given) => ({ judgement: given, failure: null })),
  fc
    .record({ error: errors, attempts, endpoint: fc.option(endpoint), moderatedAt: fc.constant(NOW) })
    .map((failure) => ({ judgement: null, failure })),
);

const settledItems: fc.Arbitrary<Item> = fc.oneof(
  errors.map((error): Item => ({ ...settledItem(0, error.code), settled: { judgement: null, error } })),
  judgements.map((given): Item => {
    const item = knownItem(0, 0);
    const snippet = given.flagged ? { text: 'a snippet', parts: ['0123456789ab'] } : null;
    return { ...item, settled: { ...item.settled, snippet, judgement: { ...given, fingerprint: MODEL.id } } };
  }),
);

const items: fc.Arbitrary<Item[]> = fc
  .array(fc.tuple(fc.oneof(requests, settledItems), roles), { minLength: 1, maxLength: 8 })
  .map((groups) =>
    groups
      .flatMap(([group, counts]) => [group].flat().map((each) => [each, counts] as const))
      .map(([each, counts], seq) => ({
        ...('seq' in each ? { ...each, seq, id: `#${seq}` } : judgedItem(seq, each)),
        roles: counts,
      })),
  );

it('a shard comes out of Redis as it went in, each conversation once', () => {
  fc.assert(
    fc.property(items, (held) => {
      const job: ShardJob = {
        run: '20261121T020000Z-test-ab12',
        record: 'e'.repeat(64),
        epoch: 3,
        expectFingerprint: null,
        workerGuards: null,
        judging: { frames: 3, longAudio: 'truncate', videoInterval: 5, videoFrames: 64 },
        contentPolicy: { thresholds: { hate: { review: 0.4 } }, allowFlagged: false, allowPartial: true },
        settledMark: 'e'.repeat(64),
        shard: { shard: 7, pass: 1, lane: 'chat', items: held },
      };
      const decoded = shardJobCodec.decode(shardJobCodec.encode(job));
      expect(decoded).toEqual(job);
      const conversations = (list: readonly Item[]): number =>
        new Set(list.map(({ request }) => (request?.requestType === 'multiturn' ? request.messages : null)))
          .size;
      expect(conversations(decoded.shard.items)).toBe(conversations(held));
    }),
  );
});

const results: fc.Arbitrary<ShardResult> = items.chain((held) =>
  fc.tuple(...held.map((item) => (item.settled === null ? outcomes : fc.constant(null)))).map((given) => ({
    shard: { shard: 7, pass: 2, lane: 'text' as const, items: held },
    outcomes: given,
    fingerprints: [MODEL],
  })),
);

const sinkJob = (result: ShardResult): ResultJob => {
  return { kind: 'result', run: 'r', record: '', epoch: 1, settledMark: null, result };
};
const unpacked = (result: ShardResult): ShardResult =>
  (sinkJobCodec.decode(sinkJobCodec.encode(sinkJob(result))) as ResultJob).result;

it('a result comes out as it went in but for the content, of which there is none', () => {
  fc.assert(
    fc.property(results, (result) => {
      const decoded = unpacked(result);
      expect(decoded.outcomes).toEqual(result.outcomes);
      expect(decoded.fingerprints).toEqual(result.fingerprints);
      expect(decoded).not.toHaveProperty('snippets');
      const snippets = result.outcomes.map((outcome) =>
        outcome === null ? null : { text: 'a snippet', parts: ['0123456789ab'] },
      );
      expect(unpacked({ ...result, snippets }).snippets).toEqual(snippets);
      const head = (item: Item) => {
        const { requestType, modality } = itemKind(item);
        return { ...item, request: null, requestType, modality, roles: JSON.stringify(item.roles) };
      };
      expect(decoded.shard.items.map(head)).toEqual(result.shard.items.map(head));
    }),
  );
  const marked = judgedItem(0, { requestType: 'prompt', modality: 'text', text: 'marker-of-content' });
  const shard = { shard: 0, pass: 1, lane: 'text' as const, items: [marked] };
  const bytes = sinkJobCodec.encode(sinkJob({ shard, outcomes: fc.sample(outcomes, 1), fingerprints: [] }));
  expect(bytes.toString('latin1')).not.toContain('marker');
});

it.each([{}, { v: 2 }, null, 'x'])('what is no job of this version is refused: %j', (data) => {
  expect(() => shardJobCodec.decode(pack(data))).toThrow();
  expect(() => sinkJobCodec.decode(pack(data))).toThrow();
});

/** The record of a result, with a judged item and a reused verdict. */
const record = (): Packed => {
  const item = judgedItem(0, { requestType: 'prompt', modality: 'text', text: 'x' });
  const verdict = judgement(0.5, { subcategoryScores: {}, fingerprint: null });
  const shard = { shard: 0, pass: 1, lane: 'text' as const, items: [item, knownItem(1, 0.5)] };
  const result = { shard, outcomes: [verdict, null], fingerprints: [MODEL] };
  return unpackJob(sinkJobCodec.encode(sinkJob(result))) as Packed;
};

type Fields = Record<string, unknown>;

interface PackedResult {
  shard: { items: [Fields, Fields & { settled: Fields & { judgement: Fields } }] };
  outcomes: [Fields, null];
  fingerprints: unknown[];
}
interface Packed {
  v: number;
  job: { result: PackedResult };
}

const failed = (code: string, more: Fields): Fields => {
  const error = { code, message: '', ...more };
  return { judgement: null, failure: { error, attempts: 1, endpoint: null, moderatedAt: NOW } };
};

type Spoil = (job: Packed) => void;
const inVerdict = (fields: Fields): Spoil => {
  return ({ job: { result } }) => Object.assign(result.outcomes[0]['judgement'] as Fields, fields);
};
const inItem = (fields: Fields): Spoil => {
  return ({ job: { result } }) => Object.assign(result.shard.items[0], fields);
};
const withOutcome = (outcome: Fields): Spoil => {
  return ({ job: { result } }) => (result.outcomes[0] = outcome);
};
it.each<[string, Spoil]>([
  ['of an earlier form', (job) => (job.v = 1)],
  ['with a category that is none', inVerdict({ subcategoryScores: { unknown: 0.5 } })],
  ['with a score of 7', inVerdict({ score: 7 })],
  ['with a latency without end', inVerdict({ latencyMs: Infinity })],
  ['with more flags than a guard gives', inVerdict({ subcategoryFlags: Array<string>(1001).fill('x') })],
  ['with the reason of another code', withOutcome(failed('TIMEOUT', { reason: 'ffmpeg_missing' }))],
  ['with a message that is too long', withOutcome(failed('INTERNAL', { message: 'x'.repeat(1001) }))],
  ['with an outcome of no kind', withOutcome({ judgement: null, failure: null })],
  ['with an item without an id', inItem({ id: undefined })],
  ['with roles that are none', inItem({ roles: { Ann: 1 } })],
  ['with a settled score of 7', ({ job }) => (job.result.shard.items[1].settled.judgement['score'] = 7)],
  ['without the model of a settled verdict', ({ job: { result } }) => (result.fingerprints = [])],
])('a result is refused %s', (_, spoil) => {
  const job = record();
  expect(() => sinkJobCodec.decode(packJob(job))).not.toThrow();
  spoil(job);
  expect(() => sinkJobCodec.decode(packJob(job))).toThrow();
});
