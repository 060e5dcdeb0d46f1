import { pack, unpack } from 'msgpackr';
import { z } from 'zod';
import { LANES } from '../../domain/item.ts';
import type { ShardResult } from '../../domain/shard.ts';
import { CANARY_CHECK } from '../../record/log/canary-schema.ts';
import { JOB_FORM } from '../redis/fleet-runs.ts';
import { FINGERPRINT, ITEM_ROW, packItem, SNIPPET, unpackItem } from './item-row.ts';
import { StringTable } from './rows.ts';
import { OUTCOME_ROW, packOutcome, unpackOutcome } from './outcome-row.ts';
import type { JobContent } from '../../queue/redis/sealing/sealed-jobs.ts';
import { shardJobId } from './shard-job.ts';

/** A job for a run's sink. */
export type SinkJob = ResultJob | FinishJob;

/** The outcomes of a shard. */
export interface ResultJob {
  readonly kind: 'result';
  /** These four are copied from the shard's job. */
  readonly run: string;
  readonly record: string;
  readonly epoch: number;
  readonly settledMark: string | null;
  /** Its items have no content but the pieces that outcomes hold in a run with content: the record needs no more. */
  readonly result: ShardResult;
}

/** A request to finish the run. */
interface FinishJob {
  readonly kind: 'finish';
  readonly run: string;
  readonly record: string;
  /** Epoch of the feeder that asks. */
  readonly epoch: number;
  readonly pass: number;
}

const count = z.int().min(0);
const text = z.string();

const JOB = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('result'),
    v: z.literal(JOB_FORM),
    run: text,
    record: text,
    epoch: z.int().min(1),
    settledMark: text.nullable(),
    shard: count,
    pass: z.int().min(1),
    lane: z.enum(LANES),
    /** The string table of the rows. */
    names: z.array(text),
    items: z.array(ITEM_ROW),
    outcomes: z.array(OUTCOME_ROW.nullable()),
    fingerprints: z.array(FINGERPRINT),
    canaries: z.array(CANARY_CHECK),
    /** Pieces of content, in a run with content. */
    snippets: z.array(SNIPPET.nullable()).nullable(),
  }),
  z.object({
    kind: z.literal('finish'),
    v: z.literal(JOB_FORM),
    run: text,
    record: text,
    epoch: z.int().min(1),
    pass: z.int().min(1),
  }),
]);

/** Id of the job that asks to finish a run after a pass. */
export function finishJobId(run: string, pass: number, epoch: number): string {
  return `f-${run}-${pass}-${epoch}`;
}

/** The encoding of results in Redis: rows in msgpack, mostly numbers, without the content of the items. */
export const sinkJobCodec: JobContent<SinkJob> = {
  plainAs: 'base64',

  id: (job) =>
    job.kind === 'finish'
      ? finishJobId(job.run, job.pass, job.epoch)
      : shardJobId(job.run, job.result.shard, job.epoch),

  encode(job) {
    return pack(packed(job));
  },

  decode(encoded) {
    const job = JOB.parse(unpack(typeof encoded === 'string' ? Buffer.from(encoded) : encoded));
    const { run, record, epoch } = job;
    if (job.kind === 'finish') return { kind: 'finish', run, record, epoch, pass: job.pass };
    const { settledMark, shard, pass, lane, names, fingerprints, canaries, snippets } = job;
    const items = job.items.map((row) => unpackItem(row, job));
    const outcomes = job.outcomes.map((row) => row && unpackOutcome(row, names));
    return {
      kind: 'result',
      run,
      record,
      epoch,
      settledMark,
      result: {
        shard: { shard, pass, lane, items },
        outcomes,
        fingerprints,
        canaries,
        ...(snippets && { snippets }),
      },
    };
  },
};

function packed(job: SinkJob): z.input<typeof JOB> {
  if (job.kind === 'finish') return { v: JOB_FORM, ...job };
  const { shard, outcomes, fingerprints, canaries = [], snippets } = job.result;
  const names = new StringTable();
  return {
    kind: 'result',
    v: JOB_FORM,
    run: job.run,
    record: job.record,
    epoch: job.epoch,
    settledMark: job.settledMark,
    shard: shard.shard,
    pass: shard.pass,
    lane: shard.lane,
    items: shard.items.map((item) => packItem(item, names)),
    outcomes: outcomes.map((outcome) => outcome && packOutcome(outcome, names)),
    names: names.list,
    fingerprints: [...fingerprints],
    canaries: [...canaries],
    snippets: snippets === undefined ? null : [...snippets],
  };
}
