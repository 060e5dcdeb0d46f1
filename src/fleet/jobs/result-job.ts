import { z } from 'zod';
import { LANES, type Item } from '../../domain/item.ts';
import { MODALITIES, REQUEST_TYPES, type ItemRequest } from '../../domain/request.ts';
import type { ShardResult } from '../../domain/shard.ts';
import type { JobContent } from '../../queue/redis/sealing/sealed-jobs.ts';
import { CANARY_CHECK } from '../../record/log/canary-schema.ts';
import { JOB_FORM } from '../redis/fleet-runs.ts';
import { FINGERPRINT, packSettled, PLACE, SETTLED_ITEM, SNIPPET, unpackSettled } from './item-schema.ts';
import { OUTCOME } from './outcome-schema.ts';
import { packJob, unpackJob } from './pack-job.ts';
import { shardJobId } from './shard-job.ts';

/** A job for the sink of a run. */
export type SinkJob = ResultJob | z.output<typeof FINISH>;

/** The outcomes of a shard. */
export interface ResultJob {
  readonly kind: 'result';
  /** The next four are copied from the shard's job. */
  readonly run: string;
  readonly record: string;
  readonly epoch: number;
  readonly settledMark: string | null;
  /** Contains no content except the excerpts for the outcomes of a run with content: the record needs no more. */
  readonly result: ShardResult;
}

const count = z.int().min(0);
const text = z.string();

/** An item of a result, without its content, which the record does not need. */
const JUDGED_ITEM = PLACE.extend({
  request: z.object({ requestType: z.enum(REQUEST_TYPES), modality: z.enum(MODALITIES) }),
  contentSha256: text,
  settled: z.null(),
});

const RESULT = z.object({
  kind: z.literal('result'),
  run: text,
  record: text,
  epoch: z.int().min(1),
  settledMark: text.nullable(),
  result: z.object({
    shard: z.object({
      shard: count,
      pass: z.int().min(1),
      lane: z.enum(LANES),
      items: z.array(z.union([JUDGED_ITEM, SETTLED_ITEM])),
    }),
    outcomes: z.array(OUTCOME.nullable()),
    fingerprints: z.array(FINGERPRINT),
    canaries: z.array(CANARY_CHECK).exactOptional(),
    snippets: z.array(SNIPPET.nullable()).exactOptional(),
  }),
});

/** A request to finish the run. */
const FINISH = z.object({
  kind: z.literal('finish'),
  run: text,
  record: text,
  /** Epoch of the feeder that makes the request. */
  epoch: z.int().min(1),
  pass: z.int().min(1),
});

const JOB = z.object({ v: z.literal(JOB_FORM), job: z.discriminatedUnion('kind', [RESULT, FINISH]) });

/** Id of the job that requests to finish a run after a pass. */
export function finishJobId(run: string, pass: number, epoch: number): string {
  return `f-${run}-${pass}-${epoch}`;
}

/** Codec of jobs for the sink in Redis, which contain no content of items. */
export const sinkJobCodec: JobContent<SinkJob> = {
  id: (job) =>
    job.kind === 'finish'
      ? finishJobId(job.run, job.pass, job.epoch)
      : shardJobId(job.run, job.result.shard, job.epoch),

  encode(job) {
    if (job.kind === 'finish') return packJob({ v: JOB_FORM, job });
    const { shard } = job.result;
    const items = shard.items.map((item) => {
      if (item.settled !== null) return packSettled(item);
      const { requestType, modality } = item.request;
      return { ...item, request: { requestType, modality } };
    });
    return packJob({ v: JOB_FORM, job: { ...job, result: { ...job.result, shard: { ...shard, items } } } });
  },

  decode(encoded) {
    const { job } = JOB.parse(unpackJob(encoded));
    if (job.kind === 'finish') return job;
    const { shard, fingerprints } = job.result;
    const items = shard.items.map((item): Item => {
      if (item.settled !== null) return unpackSettled(item, fingerprints);
      return { ...item, request: withoutContent(item.request) };
    });
    return { ...job, result: { ...job.result, shard: { ...shard, items } } };
  },
};

/** A request of the given kind without content, which the worker does not send. */
function withoutContent({
  requestType,
  modality,
}: Pick<ItemRequest, 'requestType' | 'modality'>): ItemRequest {
  switch (requestType) {
    case 'prompt':
      if (modality === 'text') return { requestType, modality, text: '' };
      return { requestType, modality, file: { corpus: '', path: '', sha256: '', bytes: 0 }, caption: null };
    case 'response':
      return { requestType, modality: 'text', prompt: null, response: '' };
    case 'generation':
      return { requestType, modality: 'text', prompt: '', chunks: [], cadenceChunks: 1 };
    case 'multiturn':
      return { requestType, modality: 'text', messages: [], turns: 0, conversation: null };
  }
}
