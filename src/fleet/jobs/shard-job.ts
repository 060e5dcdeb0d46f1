import { z } from 'zod';
import { LONG_AUDIO, MAX_FRAMES, type Judging } from '../../config/run-config.ts';
import { LANES, type Item } from '../../domain/item.ts';
import { isEmbedded, ROLES, type ItemRequest, type Turn } from '../../domain/request.ts';
import type { Policy } from '../../domain/policy.ts';
import { POLICY } from '../../record/summary/summary-schema.ts';
import { collectReusedFingerprints, type Shard } from '../../domain/shard.ts';
import {
  FINGERPRINT,
  isPlace,
  ITEM_KIND,
  PLACE,
  packPlace,
  packSettled,
  SETTLED_ROW,
  unpackPlace,
  unpackSettled,
} from './item-row.ts';
import { JOB_FORM } from '../redis/fleet-runs.ts';
import { only, row, StringTable, text as isText, type Checked } from './rows.ts';
import type { JobContent } from '../../queue/redis/sealing/sealed-jobs.ts';

/** A shard for a worker, with what the worker needs to know about its run. */
export interface ShardJob {
  readonly run: string;
  /** Distinguishes the run from others of the same name (`recordSha256`). */
  readonly record: string;
  /** Epoch of the feeder that fed it. */
  readonly epoch: number;
  /** The only fingerprint id that the run accepts from guards; null: any. */
  readonly expectFingerprint: string | null;
  readonly judging: Judging;
  /** In a run with content: the policy that decides which outcomes hold a piece of it; null: none does. */
  readonly contentPolicy: Policy | null;
  /** What the feeder settled of the shard (`settledMark`). */
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

/** Any other request than a prompt of text. A conversation is an index into the job's list, since its turns share it. */
const REQUEST = z.union([
  z.object({
    requestType: z.literal('prompt'),
    modality: z.enum(['image', 'audio']),
    file: z.object({ corpus: text, path: text, sha256: text, bytes: count }),
    caption: text.nullable(),
  }),
  z.object({
    requestType: z.literal('prompt'),
    modality: z.literal('image'),
    embedded: text, // base64
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
    chunks: z.array(text).min(1).readonly(),
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

type EncodedRequest = z.output<typeof REQUEST>;

/** An item to be judged; the last column is the contentSha256. */
const JUDGED_ROW = z.tuple([z.literal(ITEM_KIND.judged), PLACE, REQUEST, text]);

/** The same for a prompt of text, as nearly every item is: its text is the request. */
const isPrompt = row(only(ITEM_KIND.judged), isPlace, isText, isText);
const PROMPT_ROW = z.custom<Checked<typeof isPrompt>>(isPrompt);

const JOB = z.object({
  v: z.literal(JOB_FORM),
  run: z.string().min(1),
  record: text,
  epoch: z.int().min(1),
  expect: text.nullable(),
  judging: z.object({
    frames: z.int().min(1).max(MAX_FRAMES),
    longAudio: z.enum(LONG_AUDIO),
  }),
  contentPolicy: POLICY.nullable(),
  settledMark: text.nullable(),
  shard: count,
  pass: z.int().min(1),
  lane: z.enum(LANES),
  conversations: z.array(z.array(z.tuple([z.enum(ROLES), text]).readonly()).readonly()),
  /** The string table of the rows. */
  names: z.array(text),
  /** The models of settled verdicts. */
  fingerprints: z.array(FINGERPRINT),
  items: z.array(z.union([PROMPT_ROW, JUDGED_ROW, SETTLED_ROW])).min(1),
});

/**
 * The encoding of a shard in Redis: JSON, texts inline, each conversation once, media files by reference. Most of it is
 * text, which JSON writes and reads in less time than msgpack.
 */
export const shardJobCodec: JobContent<ShardJob> = {
  plainAs: 'utf8',

  id: ({ run, shard, epoch }) => shardJobId(run, shard, epoch),

  encode({ run, record, epoch, expectFingerprint, judging, contentPolicy, settledMark, shard }) {
    const conversations = new Map<readonly Turn[], number>();
    const indexOf = (messages: readonly Turn[]): number => {
      let index = conversations.get(messages);
      if (index === undefined) conversations.set(messages, (index = conversations.size));
      return index;
    };
    const pack = (request: ItemRequest): EncodedRequest | string => {
      if (request.requestType === 'prompt' && 'text' in request) return request.text;
      if (request.requestType === 'multiturn') return { ...request, messages: indexOf(request.messages) };
      return isEmbedded(request) ? { ...request, embedded: request.embedded.toString('base64') } : request;
    };
    const names = new StringTable();
    const items = shard.items.map((item) =>
      item.settled === null
        ? ([ITEM_KIND.judged, packPlace(item, names), pack(item.request), item.contentSha256] as const)
        : packSettled(item, names),
    );
    const job: Omit<z.input<typeof JOB>, 'items'> & { readonly items: typeof items } = {
      v: JOB_FORM,
      run,
      record,
      epoch,
      expect: expectFingerprint,
      judging,
      contentPolicy,
      settledMark,
      shard: shard.shard,
      pass: shard.pass,
      lane: shard.lane,
      conversations: [...conversations.keys()],
      names: names.list,
      fingerprints: [...collectReusedFingerprints(shard.items).values()],
      items,
    };
    return Buffer.from(JSON.stringify(job));
  },

  decode(encoded) {
    const job = JOB.parse(JSON.parse(encoded.toString()));
    const unpack = (request: EncodedRequest | string): ItemRequest => {
      if (typeof request === 'string') return { requestType: 'prompt', modality: 'text', text: request };
      if ('embedded' in request) return { ...request, embedded: Buffer.from(request.embedded, 'base64') };
      if (request.requestType !== 'multiturn') return request;
      const messages = job.conversations[request.messages];
      if (messages === undefined || request.turns > messages.length) {
        throw new Error('a request refers to a conversation that its job lacks');
      }
      return { ...request, messages };
    };
    const items = job.items.map((row): Item => {
      if (row[0] !== ITEM_KIND.judged) return unpackSettled(row, job);
      const [, place, request, contentSha256] = row;
      const { seq, id, source, roles, part, turn } = unpackPlace(place, job);
      return { seq, id, source, roles, part, turn, request: unpack(request), contentSha256, settled: null };
    });
    const { shard, pass, lane } = job;
    return {
      run: job.run,
      record: job.record,
      epoch: job.epoch,
      expectFingerprint: job.expect,
      judging: job.judging,
      contentPolicy: job.contentPolicy,
      settledMark: job.settledMark,
      shard: { shard, pass, lane, items },
    };
  },
};
