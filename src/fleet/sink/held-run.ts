import { join } from 'node:path';
import type { AfterFinish } from '../../config/after-finish.ts';
import { recordSha256, type RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { restoreFingerprint } from '../../domain/fingerprint.ts';
import { itemsSha256 } from '../../domain/items-hash.ts';
import type { Say } from '../../domain/say.ts';
import { listJudgements, type ShardResult } from '../../domain/shard.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { PlanTail } from '../../ingest/plan/plan-tail.ts';
import { Requeue } from '../../queue/work-queue.ts';
import { ChainTail } from '../../record/log/chain-tail.ts';
import type { ShardTally } from '../../record/shard-tally.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { hasMarker } from '../../runs/control/control-files.ts';
import { claimState, feedKey, readFeeder } from '../../runs/control/feed-claim.ts';
import { noteFinished } from '../../runs/finish/hand-over.ts';
import { finishRun } from '../../sink/final-files/finish.ts';
import { claimLog } from '../../sink/verdict-log/claim-log.ts';
import type { LogWriter } from '../../sink/verdict-log/log-writer.ts';
import type { VerdictStore } from '../../store/verdict-store.ts';
import type { ResultJob, SinkJob } from '../jobs/result-job.ts';
import { isSameMark, settledMark } from '../jobs/settled-mark.ts';
import type { FoundRun } from './find-run-directory.ts';
import { type Backlog, RunBacklog } from './run-backlog.ts';
import { KeptVerdicts } from './run-store.ts';

/** Requeue delay after another process took over the log, in milliseconds. */
const OVERTAKEN_MS = 200;

interface HeldRunOptions {
  readonly run: FoundRun;
  /** Receives messages, to which the sink adds the name of the run. */
  readonly say: Say;
  /** Called when the disk is full, and when it has room again. */
  readonly diskFull: (full: boolean) => void;
  readonly afterFinish: SinkAfterFinish;
  /** Opens the run's verdict store; null if verdicts are not kept for later runs. Rejects only on abort. */
  readonly openStore: (run: FoundRun) => Promise<VerdictStore | null>;
  /** Aborted when everything must end at once. */
  readonly stop: AbortSignal;
}

/** Steps of a sink after it finishes a run. */
export type SinkAfterFinish = Pick<AfterFinish, 'signingKey' | 'headFile'>;
/** The result of handling a job. */
type Taken =
  /** With the totals of the shard, or null if it had been committed before. */
  | { readonly done: 'committed'; readonly tally: ShardTally | null }
  | { readonly done: 'finished' | 'finished before' }
  | {
      readonly done: 'dropped';
      readonly reason: Mismatch | 'not fed' | 'other run' | 'other feeder' | 'unfinished';
    };

/** A run whose results one sink commits. It claims the log when the first result arrives. */
export class HeldRun {
  readonly #options: HeldRunOptions;
  readonly #plan: PlanTail;
  readonly #backlog: RunBacklog;
  readonly #kept: KeptVerdicts;
  readonly #recordSha256: string;
  #claim: Promise<LogWriter> | null = null;
  #measuring: Promise<Backlog | null> | null = null;
  /** The log before it is claimed. */
  #log: ChainTail | null = null;
  /** Key of the feeder whose result came last. */
  #key: { readonly epoch: number; readonly key: Promise<string | null> } | null = null;
  /** The chain head that was last reported and noted, because a finish job can arrive repeatedly. */
  #noted: { readonly head: string; readonly done: Promise<void> } | null = null;

  constructor(options: HeldRunOptions) {
    this.#options = options;
    const { run, openStore } = options;
    this.#plan = new PlanTail(join(run.dir, RUN_FILES.plan));
    this.#backlog = new RunBacklog(this.#plan);
    this.#kept = new KeptVerdicts(run, openStore);
    this.#recordSha256 = recordSha256(run.record);
  }

  /**
   * Handles a job; resolves when the result is on disk or the run is finished. Drops jobs of a run that is no longer
   * fed to a fleet; jobs of any feeder but the latest, which feeds their shards again; results that do not match the
   * plan; and finish jobs that arrive before everything is committed. Throws `Requeue` if another process took over the
   * log, and a Failure if the run cannot continue.
   */
  async take(job: SinkJob): Promise<Taken> {
    const { dir, record } = this.#options.run;
    if (this.#claim === null && !(await this.#isFed())) return { done: 'dropped', reason: 'not fed' };
    if (job.run !== record.run || job.record !== this.#recordSha256)
      return { done: 'dropped', reason: 'other run' };
    if (!(await this.#isFedBy(job.epoch))) return { done: 'dropped', reason: 'other feeder' };
    if (job.kind === 'finish') {
      const done = await finishedSummary(dir);
      if (done !== null) return this.#finished(done);
    } else {
      const mismatch = await mismatchOf(job.result, this.#plan, record.config, this.#options.stop);
      if (mismatch !== null) return { done: 'dropped', reason: mismatch };
      if (!(await this.#isSettledSo(job))) return { done: 'dropped', reason: 'not settled so' };
    }
    this.#claim ??= this.#claimLog();
    const claim = this.#claim;
    try {
      const log = await claim;
      if (job.kind === 'result') {
        const tally = await log.commit(job.result);
        if (tally !== null) this.#backlog.committed();
        return { done: 'committed', tally };
      }
      const { stop, afterFinish } = this.#options;
      await this.#plan.poll(stop);
      const { isClosed, pass, shards } = this.#plan.state;
      if (!isClosed || job.pass !== pass || log.committed !== shards) {
        return { done: 'dropped', reason: 'unfinished' };
      }
      const summary = await finishRun(log, stop, { signingKey: afterFinish.signingKey });
      if (summary.status === 'finished') return await this.#finished(summary);
      // Another feeder may have taken over and planned more shards.
      if (!(await this.#isFedBy(job.epoch))) return { done: 'dropped', reason: 'other feeder' };
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'superseded') throw error;
      await this.#release(claim);
      throw new Requeue(OVERTAKEN_MS);
    }
    throw new Failure(
      'internal',
      'the run cannot be finished: not all of its shards are committed; resume it',
    );
  }

  /**
   * How far the run is behind its plan; null while it is paused, and if that cannot be determined. Concurrent calls
   * share one measurement. Does not reject.
   */
  backlog(): Promise<Backlog | null> {
    this.#measuring ??= this.#measure().finally(() => (this.#measuring = null));
    return this.#measuring;
  }

  async #measure(): Promise<Backlog | null> {
    const { run, stop } = this.#options;
    try {
      if (await hasMarker(run.dir, 'paused')) return null;
      return await this.#backlog.measure(await this.#committed(), stop);
    } catch {
      // Any problem with the run's files is reported when its next result arrives.
      return null;
    }
  }

  /** Committed shards and their counts, which only a claimed log knows without reading. */
  async #committed(): Promise<Pick<ChainTail, 'isCommitted' | 'counts'>> {
    if (this.#claim !== null) return this.#claim;
    this.#log ??= await ChainTail.openNow(this.#options.run.dir, this.#options.stop);
    await this.#log.poll();
    return this.#log;
  }

  /** Adds the verdicts of a committed result to the run's store, where later runs find them. Rejects only on abort. */
  keep(result: ShardResult): Promise<void> {
    return this.#kept.add(result);
  }

  /** Reports the chain head of a finished run and adds it to the head file, once. */
  async #finished(summary: Summary): Promise<Taken> {
    const isNew = this.#noted?.head !== summary.chain_head;
    if (isNew) this.#noted = { head: summary.chain_head, done: this.#note(summary) };
    await this.#noted?.done;
    return { done: isNew ? 'finished' : 'finished before' };
  }

  /** A failure to write the head file does not fail the run. */
  async #note(summary: Summary): Promise<void> {
    const { run, say, stop, afterFinish } = this.#options;
    const message = `the run ${summary.run} is finished: pass ${summary.pass}, chain head ${summary.chain_head}`;
    say(message, { event: 'run_finished' });
    if (afterFinish.headFile === null) return;
    try {
      await noteFinished(afterFinish.headFile, run.dir, summary, stop);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'service') throw error;
      say(error.message, { level: 'error', event: 'head_file_failed' });
    }
  }

  /** Commits results in flight and closes the log and the verdict store. */
  async close(): Promise<void> {
    if (this.#claim !== null) await this.#release(this.#claim);
    await this.#kept.close();
  }

  async #claimLog(): Promise<LogWriter> {
    const { run, say, diskFull, stop } = this.#options;
    const report = (message: string, full: boolean): void => {
      diskFull(full);
      say(message, full ? { level: 'warn', event: 'disk_full' } : {});
    };
    const since = (await readFeeder(run.dir))?.at;
    this.#log = null;
    return claimLog(run.dir, run.record, { signal: stop, report, since });
  }

  async #release(claim: Promise<LogWriter>): Promise<void> {
    if (this.#claim === claim) this.#claim = null;
    const log = await claim.catch(() => null);
    await log?.close();
  }

  /** Whether the run's latest feeder feeds a fleet. A single process commits its results itself. */
  async #isFed(): Promise<boolean> {
    const feeder = await readFeeder(this.#options.run.dir);
    return feeder !== null && feeder.fleet;
  }

  /**
   * Whether the settled items of a result are as the feeder settled them, since the result has passed through a worker.
   */
  async #isSettledSo({ epoch, settledMark: mark, result }: ResultJob): Promise<boolean> {
    if (this.#key?.epoch !== epoch) {
      this.#key = { epoch, key: feedKey(this.#options.run.dir, epoch) };
    }
    const key = await this.#key.key;
    return key !== null && isSameMark(mark, settledMark(key, result.shard));
  }

  /** Whether the feeder of an epoch is the latest. */
  async #isFedBy(epoch: number): Promise<boolean> {
    return (await claimState(this.#options.run.dir, epoch)) === 'latest';
  }
}

/** Why a result does not match the plan of its run. */
type Mismatch =
  'not planned' | 'other pass' | 'other items' | 'incomplete' | 'other fingerprint' | 'not settled so';

/**
 * Checks an untrusted result against the plan and the configuration of its run: shard, pass and lane; one outcome per
 * planned item, and none for settled ones; everything recorded about the items; and the fingerprints. Null if it
 * matches. The codec has already checked the scores.
 */
async function mismatchOf(
  result: ShardResult,
  plan: PlanTail,
  { expectFingerprint }: Pick<RunConfig, 'expectFingerprint'>,
  signal: AbortSignal,
): Promise<Mismatch | null> {
  const { shard, outcomes, fingerprints, snippets } = result;
  const items = itemsSha256(shard.items);
  let planned = plan.find(shard.shard);
  if (planned === null || !plan.state.wasFed(planned, items)) {
    await plan.poll(signal);
    planned = plan.find(shard.shard);
  }
  if (planned === null) return 'not planned';
  if (shard.pass !== planned.pass || shard.lane !== planned.lane) return 'other pass';
  if (outcomes.length !== shard.items.length) return 'incomplete';
  if (snippets !== undefined && snippets.length !== outcomes.length) return 'incomplete';
  if (!plan.state.wasFed(planned, items)) return 'other items';
  const isWhole = shard.items.every(({ settled }, at) => (settled === null) === (outcomes[at] !== null));
  if (!isWhole) return 'incomplete';
  const whole = new Set<string | null>([null]);
  for (const { id, artifacts } of fingerprints) {
    if (restoreFingerprint(artifacts)?.id !== id) return 'other fingerprint';
    whole.add(id);
  }
  for (const judgement of listJudgements(result)) {
    if (judgement === null) continue;
    const { fingerprint } = judgement;
    if (!whole.has(fingerprint)) return 'other fingerprint';
    if (expectFingerprint !== null && fingerprint !== expectFingerprint) return 'other fingerprint';
  }
  return null;
}
