import { z } from 'zod';
import { LANES, type Item } from '../../domain/item.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { ItemRequest, Modality, RequestType } from '../../domain/request.ts';
import type { ShardResult } from '../../domain/shard.ts';
import type { CategoryKey } from '../../domain/taxonomy.ts';
import type { JobCodec } from './redis-queue.ts';
import { ITEM_ERROR, SOURCE, shardJobId } from './shard-job.ts';

/** What travels to a run's sink: a shard's outcomes, or that the run is to be finished. */
export type SinkJob =
  | {
      readonly kind: 'result';
      readonly run: string;
      readonly epoch: number;
      /** Its items are without their content, which the record has no use for. */
      readonly result: ShardResult;
    }
  | { readonly kind: 'finish'; readonly run: string; readonly epoch: number; readonly pass: number };

const VERSION = 1;

const count = z.int().min(0);
const text = z.string();

const ITEM = z.object({
  seq: count,
  id: text,
  source: SOURCE,
  modality: z.enum(['text', 'image', 'audio']).nullable(),
  type: z.enum(['prompt', 'response', 'multiturn']).nullable(),
  sha256: text.nullable(),
  error: ITEM_ERROR.nullable(),
});

const OUTCOME = z.union([
  z.object({
    judgement: z.object({
      score: z.number(),
      flagged: z.boolean(),
      subcategoryScores: z.record(text, z.number()).nullable(),
      subcategoryFlags: z.array(text).nullable(),
      fingerprint: text.nullable(),
      endpoint: text,
      latencyMs: z.number(),
      attempts: count,
      cacheUsage: z.array(z.number()).nullable(),
      moderatedAt: text,
      coverage: z.object({
        unit: z.enum(['chars', 'turns', 'frames', 'seconds']),
        judged: z.number(),
        total: z.number(),
        worst_at: z.number().nullable(),
      }),
    }),
    failure: z.null(),
  }),
  z.object({
    judgement: z.null(),
    failure: z.object({ error: ITEM_ERROR, attempts: count, endpoint: text.nullable(), moderatedAt: text }),
  }),
]);

const JOB = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('result'),
    v: z.literal(VERSION),
    run: text,
    epoch: z.int().min(1),
    shard: count,
    pass: z.int().min(1),
    lane: z.enum(LANES),
    items: z.array(ITEM),
    outcomes: z.array(OUTCOME.nullable()),
    fingerprints: z.array(z.object({ id: text, artifacts: z.record(text, text) })),
  }),
  z.object({
    kind: z.literal('finish'),
    v: z.literal(VERSION),
    run: text,
    epoch: z.int().min(1),
    pass: z.int().min(1),
  }),
]);

/** Name of the job that asks for the end of a pass. */
export function finishJobId(run: string, pass: number, epoch: number): string {
  return `f-${run}-${pass}-${epoch}`;
}

/** The form of results in Redis: JSON, without any content. */
export const sinkJobCodec: JobCodec<SinkJob> = {
  id: (job) =>
    job.kind === 'finish'
      ? finishJobId(job.run, job.pass, job.epoch)
      : shardJobId(job.run, job.result.shard, job.epoch),

  encode(job) {
    if (job.kind === 'finish') return { v: VERSION, ...job };
    const { shard, outcomes, fingerprints } = job.result;
    return {
      kind: 'result',
      v: VERSION,
      run: job.run,
      epoch: job.epoch,
      shard: shard.shard,
      pass: shard.pass,
      lane: shard.lane,
      items: shard.items.map(withoutContent),
      outcomes,
      fingerprints,
    };
  },

  decode(data) {
    const job = JOB.parse(data);
    const { run, epoch } = job;
    if (job.kind === 'finish') return { kind: 'finish', run, epoch, pass: job.pass };
    const { shard, pass, lane, fingerprints } = job;
    const items = job.items.map(restored);
    const outcomes = job.outcomes as readonly (Outcome & { judgement: KnownScores })[];
    return {
      kind: 'result',
      run,
      epoch,
      result: { shard: { shard, pass, lane, items }, outcomes, fingerprints },
    };
  },
};

/** Keys of scores come from our own tensor codec; the record's own checks hold them against the taxonomy. */
type KnownScores = { readonly subcategoryScores: Partial<Record<CategoryKey, number>> | null } | null;

function withoutContent(item: Item): z.input<typeof ITEM> {
  const { seq, id, source } = item;
  return item.error === null
    ? {
        seq,
        id,
        source,
        modality: item.request.modality,
        type: item.request.requestType,
        sha256: item.contentSha256,
        error: null,
      }
    : { seq, id, source, modality: item.modality, type: item.requestType, sha256: null, error: item.error };
}

function restored({ seq, id, source, modality, type, sha256, error }: z.output<typeof ITEM>): Item {
  if (error !== null) {
    return { seq, id, source, request: null, modality, requestType: type, contentSha256: null, error };
  }
  if (sha256 === null || type === null || modality === null)
    throw new Error('an item that was judged came without its hash or kind');
  return { seq, id, source, request: emptied(type, modality), contentSha256: sha256, error: null };
}

/** A request of a kind whose content stayed with the worker. */
function emptied(requestType: RequestType, modality: Modality): ItemRequest {
  switch (requestType) {
    case 'prompt':
      if (modality === 'text') return { requestType, modality, text: '' };
      return { requestType, modality, file: { corpus: '', path: '', sha256: '', bytes: 0 }, caption: null };
    case 'response':
      return { requestType, modality: 'text', prompt: null, response: '' };
    case 'multiturn':
      return { requestType, modality: 'text', messages: [], turns: 0, conversation: null };
  }
}
