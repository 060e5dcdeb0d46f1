import { z } from 'zod';
import {
  LONG_AUDIO,
  MAX_FRAMES,
  MAX_VIDEO_FRAMES,
  MAX_VIDEO_INTERVAL,
  type Judging,
} from '../../config/run-config.ts';
import { LANES, type Item } from '../../domain/item.ts';
import type { Policy } from '../../domain/policy.ts';
import { ROLES, type ItemRequest, type Turn } from '../../domain/request.ts';
import { collectReusedFingerprints, type Shard } from '../../domain/shard.ts';
import type { JobContent } from '../../queue/redis/sealing/sealed-jobs.ts';
import { POLICY } from '../../record/summary/summary-schema.ts';
import { JOB_FORM } from '../redis/fleet-runs.ts';
import { FINGERPRINT, packSettled, PLACE, SETTLED_ITEM, unpackSettled } from './item-schema.ts';
import { packJob, unpackJob } from './pack-job.ts';

/** A shard for a worker, with what the worker needs to know about its run. */
export interface ShardJob {
  readonly run: string;
  /** Distinguishes the run from others of the same name (`recordSha256`). */
  readonly record: string;
  /** Epoch of the feeder that fed it. */
  readonly epoch: number;
  /** The only fingerprint id that the run accepts from guards; null accepts any. */
  readonly expectFingerprint: string | null;
  /** Only workers with one of these guards may judge it; null to allow every worker. */
  readonly workerGuards: readonly string[] | null;
  readonly judging: Judging;
  /** In a run with content, the policy that decides which outcomes include an excerpt; null if none does. */
  readonly contentPolicy: Policy | null;
  /** Mark of the outcomes settled by the feeder (`settledMark`). */
  readonly settledMark: string | null;
  readonly shard: Shard;
}

/**
 * Id of a shard's job. It is unique within a run and differs between feeders, because BullMQ does not add a job whose id
 * already exists.
 */
export function shardJobId(
  run: string,
  { pass, shard }: Pick<Shard, 'pass' | 'shard'>,
  epoch: number,
): string {
  return `s-${run}-${pass}-${shard}-${epoch}`;
}

const count = z.int().min(0);
const text = z.string();

/** A request with its content. A conversation is an index into the job's list, since its turns share it. */
const REQUEST = z.union([
  z.object({ requestType: z.literal('prompt'), modality: z.literal('text'), text }),
  z.object({
    requestType: z.literal('prompt'),
    modality: z.enum(['image', 'audio']),
    file: z.object({ corpus: text, path: text, sha256: text, bytes: count }),
    caption: text.nullable(),
  }),
  z.object({
    requestType: z.literal('prompt'),
    modality: z.enum(['image', 'audio']),
    embedded: z.instanceof(Buffer),
    caption: z.null(),
  }),
  z.object({
    requestType: z.literal('response'),
    modality: z.literal('text'),
    prompt: text.nullable(),
    response: text,
  }),
  z.object({
    requestType: z.literal('generation'),
    modality: z.literal('text'),
    prompt: text,
    chunks: z.array(text).min(1),
    cadenceChunks: z.int().min(1),
  }),
  z.object({
    requestType: z.literal('multiturn'),
    modality: z.literal('text'),
    messages: count,
    turns: z.int().min(1),
    conversation: count.nullable(),
  }),
]);

const JUDGED_ITEM = PLACE.extend({ request: REQUEST, contentSha256: text, settled: z.null() });

const JOB = z.object({
  v: z.literal(JOB_FORM),
  job: z.object({
    run: z.string().min(1),
    record: text,
    epoch: z.int().min(1),
    expectFingerprint: text.nullable(),
    workerGuards: z.array(text).nullable(),
    judging: z.object({
      frames: z.int().min(1).max(MAX_FRAMES),
      longAudio: z.enum(LONG_AUDIO),
      videoInterval: z.int().min(1).max(MAX_VIDEO_INTERVAL),
      videoFrames: z.int().min(1).max(MAX_VIDEO_FRAMES),
    }),
    contentPolicy: POLICY.nullable(),
    settledMark: text.nullable(),
    shard: z.object({
      shard: count,
      pass: z.int().min(1),
      lane: z.enum(LANES),
      items: z.array(z.union([JUDGED_ITEM, SETTLED_ITEM])).min(1),
    }),
  }),
  conversations: z.array(z.array(z.tuple([z.enum(ROLES), text]).readonly())),
  /** The models of reused verdicts. */
  fingerprints: z.array(FINGERPRINT),
});

/** Codec of shards in Redis, which contain their text, each conversation once, and media files by reference. */
export const shardJobCodec: JobContent<ShardJob> = {
  id: ({ run, shard, epoch }) => shardJobId(run, shard, epoch),

  encode(job) {
    const conversations = new Map<readonly Turn[], number>();
    const pack = (request: ItemRequest): object => {
      if (request.requestType !== 'multiturn') return request;
      const index = conversations.get(request.messages) ?? conversations.size;
      conversations.set(request.messages, index);
      return { ...request, messages: index };
    };
    const items = job.shard.items.map((item) =>
      item.settled === null ? { ...item, request: pack(item.request) } : packSettled(item),
    );
    return packJob({
      v: JOB_FORM,
      job: { ...job, shard: { ...job.shard, items } },
      conversations: [...conversations.keys()],
      fingerprints: [...collectReusedFingerprints(job.shard.items).values()],
    });
  },

  decode(encoded) {
    const { job, conversations, fingerprints } = JOB.parse(unpackJob(encoded));
    const unpack = (request: z.output<typeof REQUEST>): ItemRequest => {
      if (request.requestType !== 'multiturn') return request;
      const messages = conversations[request.messages];
      if (messages === undefined || request.turns > messages.length) {
        throw new Error('a request refers to a conversation that its job lacks');
      }
      return { ...request, messages };
    };
    const items = job.shard.items.map((item): Item =>
      item.settled === null ? { ...item, request: unpack(item.request) } : unpackSettled(item, fingerprints),
    );
    return { ...job, shard: { ...job.shard, items } };
  },
};
