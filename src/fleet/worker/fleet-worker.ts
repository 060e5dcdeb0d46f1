import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import type { Lane } from '../../domain/item.ts';
import { isMedia } from '../../domain/request.ts';
import type { Say } from '../../domain/say.ts';
import type { Shard, ShardResult } from '../../domain/shard.ts';
import { Requeue, MAX_REQUEUE_DELAY_MS } from '../../queue/work-queue.ts';
import { FleetRuns } from '../redis/fleet-runs.ts';
import { shardQueue } from '../redis/fleet-queues.ts';
import { listPresent } from '../redis/presence.ts';
import type { Delivery } from '../../queue/redis/redis-queue.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { DroppedJobs } from '../../queue/redis/sealing/dropped-jobs.ts';
import { cannotRead } from '../jobs/unreadable-jobs.ts';
import type { ShardJob } from '../jobs/shard-job.ts';
import type { Judge } from '../../moderate/parts/judge-parts.ts';
import type { CorpusFolders } from '../../moderate/media/corpus-folders.ts';
import type { MediaNormalizer } from '../../moderate/media/media-judge.ts';
import { withSnippets } from '../../record/outcomes/snippets.ts';
import { Moderator } from '../../moderate/moderator.ts';
import { ResultQueues } from './result-queues.ts';
import { ShardModerator } from './shard-moderator.ts';
import { parseNote } from './shard-note.ts';

/** Requeue delay for a shard whose run expects a different model than this worker's guard has, in milliseconds. */
const OTHER_GUARD_MS = MAX_REQUEUE_DELAY_MS;
/**
 * Requeue delay for a shard whose run names guards that this worker does not have: short, because the next worker to
 * take it is often also such a worker.
 */
const UNNAMED_GUARD_MS = 250;
/** Requeue delay for a shard whose run's announcement cannot be read; its feeder announces it every 5 s. */
const UNREADABLE_RUN_MS = 2_000;
/** Requeue delay for a shard whose corpus this worker does not have. */
const OTHER_CORPUS_MS = MAX_REQUEUE_DELAY_MS;
/** Requeue delay for a shard with files that this worker lacks: short, so another worker tries soon. */
const OTHER_FILES_MS = 2_000;

/** Once this many workers have lacked files of a shard, its items end as UNREADABLE_SOURCE. */
const MAX_LACKING = 5;

/** A worker's announcement about the shards it takes. */
const WORKER = z.looseObject({ lanes: z.array(z.string()) });

interface FleetWorkerOptions {
  readonly link: RedisLink;
  readonly judge: Judge;
  readonly normalizer: MediaNormalizer;
  /** Corpora whose media files this worker can open. */
  readonly folders: CorpusFolders;
  /** The id under which this process announces itself. */
  readonly id: string;
  readonly lanes: readonly Lane[];
  /** Names of the guards with which it judges. */
  readonly guards: readonly string[];
  /** Maximum shards in flight per lane. */
  readonly concurrency: number;
  /** Lock duration, in milliseconds: a worker that does not renew its locks for this long loses its shards to others. */
  readonly lockMs: number;
  readonly say: Say;
  /** Counters for metrics. */
  readonly observer: WorkerObserver;
  /** Aborted when no new shard may be started. */
  readonly drain: AbortSignal;
  /** Aborted when everything must end at once. */
  readonly stop: AbortSignal;
}

export interface WorkerObserver {
  begun(lane: Lane): void;
  /** `result` is null if the shard was requeued or dropped. */
  ended(lane: Lane, result: ShardResult | null): void;
  /** Called when a job was dropped because no feeder made it; `reason` is one of a small fixed set. */
  dropped(reason: string): void;
}

/**
 * Judges queued shards of all runs and queues their results for the sinks, until drained. A shard is acknowledged after
 * its result was queued. Rejects with the reason of `drain` or `stop`, or with a Failure if no guard was ready for too
 * long.
 */
export async function runFleetWorker(options: FleetWorkerOptions): Promise<void> {
  const { link, say, drain, stop } = options;
  const runs = new FleetRuns(link);
  const dropped = new DroppedJobs(say, (reason) => options.observer.dropped(reason));
  const results = new ResultQueues(link, runs);
  const moderator = new ShardModerator({
    judge: options.judge,
    moderator: new Moderator({
      judge: options.judge,
      normalizer: options.normalizer,
      folders: options.folders,
    }),
    worker: options.id,
  });
  const failed = new AbortController();
  const ending = AbortSignal.any([drain, stop, failed.signal]);
  setMaxListeners(0, ending, stop);

  /** Notes that this worker lacks files of a shard. Returns whether a live worker of the lane may have them. */
  const othersMayHave = async (lane: Lane, delivery: Delivery): Promise<boolean> => {
    const note = parseNote(delivery.note);
    const lacking = [...new Set([...note.lacking, options.id])];
    await delivery.setNote(JSON.stringify({ ...note, lacking }), stop);
    const present = await listPresent(link, 'worker', stop);
    const others = present.filter(
      ({ id, details }) =>
        !lacking.includes(id) && WORKER.safeParse(details).data?.lanes.includes(lane) !== false,
    );
    return others.length > 0 && lacking.length < MAX_LACKING;
  };
  const handle = async (job: ShardJob, delivery: Delivery): Promise<ShardResult | null> => {
    const { run, record, epoch, settledMark, shard, judging, workerGuards, contentPolicy } = job;
    const fed = await runs.find(run, stop);
    if (fed === 'unreadable') throw new Requeue(UNREADABLE_RUN_MS);
    // The job was opened with our key, so an announcement of its run under another key is not from its feeder.
    if (fed !== 'absent' && cannotRead(fed, link) !== null) throw new Requeue(UNREADABLE_RUN_MS);
    // A later feeder feeds all uncommitted shards again, so shards of an earlier one would be judged twice.
    if (fed === 'absent' || epoch < fed.epoch) return null;
    if (workerGuards !== null && !options.guards.some((name) => workerGuards.includes(name))) {
      await runs.noteObstacle(run, `a worker does not have the guard ${workerGuards.join(' or ')}`, stop);
      throw new Requeue(UNNAMED_GUARD_MS);
    }
    const lacks = await lackedCorpus(shard, options.folders, stop);
    if (lacks !== null) {
      const { obstacle, delayMs } = lacks;
      if (delayMs === OTHER_CORPUS_MS || (await othersMayHave(shard.lane, delivery))) {
        await runs.noteObstacle(run, obstacle, stop);
        throw new Requeue(delayMs);
      }
    }
    const judged = await moderator.moderate({ ...shard, judging }, delivery, stop);
    const result = contentPolicy === null ? judged : withSnippets(judged, contentPolicy);
    const other = otherFingerprint(result, job.expectFingerprint);
    if (other !== null) {
      const message = `a worker's guard has ${other}; the run expects ${job.expectFingerprint}`;
      await runs.reportProblem(run, { kind: 'service', message, epoch }, stop);
      throw new Requeue(OTHER_GUARD_MS);
    }
    await results.put({ kind: 'result', run, record, epoch, settledMark, result }, stop);
    return result;
  };
  const lane = async (name: Lane): Promise<void> => {
    const queue = shardQueue(link, name, { lockMs: options.lockMs, dropped });
    try {
      await queue.consume(
        async (job, _signal, delivery) => {
          options.observer.begun(name);
          let result: ShardResult | null = null;
          try {
            result = await handle(job, delivery);
          } finally {
            options.observer.ended(name, result);
          }
        },
        { concurrency: options.concurrency, signal: ending },
      );
    } catch (error) {
      failed.abort(error);
    } finally {
      await queue.close();
    }
  };
  try {
    await Promise.all(options.lanes.map(lane));
  } finally {
    await results.close();
  }
  throw stop.aborted ? stop.reason : drain.aborted ? drain.reason : failed.signal.reason;
}

/** Which of a shard's media this worker lacks, and the requeue delay for the shard; null if none. */
async function lackedCorpus(
  { items }: Shard,
  folders: CorpusFolders,
  signal: AbortSignal,
): Promise<{ readonly obstacle: string; readonly delayMs: number } | null> {
  let lacked: string | null = null;
  for (const { request } of items) {
    if (request === null || !isMedia(request)) continue;
    const corpus = JSON.stringify(request.file.corpus);
    if (!folders.knows(request.file.corpus)) {
      const obstacle = `a worker does not have the corpus ${corpus}: --root ${corpus}=<its path on that machine>`;
      return { obstacle, delayMs: OTHER_CORPUS_MS };
    }
    if (lacked === null && !(await folders.has(request.file, signal))) lacked = corpus;
  }
  if (lacked === null) return null;
  return { obstacle: `a worker lacks files of the corpus ${lacked}`, delayMs: OTHER_FILES_MS };
}

/** Fingerprint of a verdict that is not the expected one, as a phrase; null if there is none. */
function otherFingerprint(result: ShardResult, expected: string | null): string | null {
  if (expected === null) return null;
  for (const outcome of result.outcomes) {
    const judgement = outcome?.judgement ?? null;
    if (judgement === null || judgement.fingerprint === expected) continue;
    return judgement.fingerprint === null ? 'no fingerprint' : `the fingerprint ${judgement.fingerprint}`;
  }
  return null;
}
