import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Priority, RunRecord } from '../../config/run-config.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { PlanTail } from '../../ingest/plan/plan-tail.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { parseChainLine } from '../../record/log/chain-line.ts';
import { ChainTail } from '../../record/log/chain-tail.ts';
import { formatPlace } from '../../record/log/chain.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { lastLines } from '../../record/log/last-lines.ts';
import { assertNotPurged, readPurged } from '../../record/purged.ts';
import { closedSummary, finishedSummary } from '../../record/summary/finished-summary.ts';
import type { GateResult } from '../../record/summary/gates.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { ShardCounts } from '../../record/shard-tally.ts';
import { hasMarker } from '../../runs/control/control-files.ts';
import { type Feeder, readFeeder } from '../../runs/control/feed-claim.ts';
import { notARun, readRunRecord } from '../../runs/open-run.ts';
import { EXIT_STATUS, runEnd } from '../../runs/run-end.ts';
import { stallReason, WAITING_FOR_REDIS } from './stall-reason.ts';

/** Timeout for Redis, in milliseconds; a reply takes far less. */
const ANSWER_WITHIN_MS = 5000;

/** `stopped`: there is work left, but no feeder. `purged`: finished, and its content was deleted. */
type RunState = 'running' | 'paused' | 'stopped' | 'cancelled' | 'finished' | 'purged';

/** Progress of a run, from its directory. */
export interface RunStatus {
  readonly run: string;
  /** Absolute path. */
  readonly dir: string;
  readonly state: RunState;
  /** Scheduling priority on the fleet; null for a run that was not created on a fleet. */
  readonly priority: Priority | null;
  readonly pass: number;
  /** Items planned so far and whether that is all, for the current pass, or for the whole run once it is finished. */
  readonly planned: number;
  readonly plan_closed: boolean;
  readonly judged: number;
  /** Verdicts with decision review and with decision block. */
  readonly review: number;
  readonly block: number;
  readonly errors: number;
  /** Verdicts of all passes by flagged category; one verdict may count in several. */
  readonly by_category: Readonly<Record<string, number>>;
  readonly shards: { readonly planned: number; readonly committed: number };
  /** The lowest shard that is planned but not committed; null if there is none. */
  readonly oldest_open_shard: number | null;
  readonly items_per_second: number | null;
  /** Seconds left at that rate; null while the plan is open or the rate is unknown. */
  readonly seconds_left: number | null;
  readonly feeder: Feeder | null;
  /** Why the run is stalled; null if it is not. */
  readonly stuck: string | null;
  /** Damaged location in its log; null if there is none. */
  readonly damaged_at: string | null;
  /** Exit status of the command that completed the run; null while the run is not finished. */
  readonly exit_status: number | null;
  /** Results of the run's gates; null while the run is not finished. */
  readonly gates: readonly GateResult[] | null;
}

/**
 * Reads the status of a run repeatedly. The first call reads the plan and the log's commits from the beginning, later
 * calls only what was added. Writes nothing. Memory: about 60 bytes per shard.
 */
export class RunWatch {
  readonly #dir: string;
  readonly #record: RunRecord;
  readonly #chain: ChainTail;
  readonly #plan: PlanTail;
  /** All shards below this number are committed. */
  #firstOpen = 0;

  private constructor(dir: string, record: RunRecord, chain: ChainTail) {
    this.#dir = dir;
    this.#record = record;
    this.#chain = chain;
    this.#plan = new PlanTail(join(dir, RUN_FILES.plan));
  }

  /** Failure('usage') if this is not a run directory, 'internal' if its log is not intact. */
  static async open(path: string, signal: AbortSignal): Promise<RunWatch> {
    const dir = resolve(path);
    const record = await readRunRecord(dir);
    if (record === null) throw await notARun(path, signal);
    return new RunWatch(dir, record, await ChainTail.openNow(dir, signal));
  }

  /**
   * Returns the current status. With a Redis link, it includes what the run lacks on its fleet. `away` means that Redis
   * has not been reached yet, null that none is known.
   */
  async look(link: RedisLink | 'away' | null, signal: AbortSignal): Promise<RunStatus> {
    const plan = this.#plan;
    // The order matters: a run that ends during these reads is not reported as stopped, a run reported as finished is
    // complete, and every shard reported as committed is also reported as planned.
    const feeder = await readFeeder(this.#dir);
    const purged = await readPurged(this.#dir);
    const summary = await (purged === null ? finishedSummary : closedSummary)(this.#dir);
    await this.#chain.poll();
    await plan.poll(signal);
    const { state: planned } = plan;
    const pass = Math.max(1, planned.pass);
    const counts = this.#chain.counts(pass);
    const { endsBefore } = this.#chain;
    const whole = summary === null ? await openState(this.#dir, feeder) : 'finished';
    const state = purged === null ? whole : 'purged';
    const rate = state === 'running' ? await recentRate(this.#dir, new Date()) : null;
    const oldest = this.#oldestOpen();
    return {
      run: this.#record.run,
      dir: this.#dir,
      state,
      priority: this.#record.config.priority ?? null,
      pass,
      planned: summary?.items ?? planned.passItems,
      plan_closed: planned.isClosed,
      ...(summary === null ? countsSoFar(counts) : finalCounts(summary)),
      by_category: summary?.by_category ?? this.#chain.byCategory,
      shards: { planned: planned.shards, committed: this.#chain.shards },
      oldest_open_shard: oldest,
      items_per_second: rate,
      seconds_left: rate === null || !planned.isClosed ? null : (planned.passItems - counts.items) / rate,
      feeder,
      stuck: await this.#stallReason(state, feeder, oldest, link, signal),
      damaged_at: endsBefore && formatPlace(endsBefore),
      exit_status: summary === null ? null : EXIT_STATUS[runEnd(this.#record.config, summary)],
      gates: summary?.gates ?? null,
    };
  }

  #oldestOpen(): number | null {
    while (this.#chain.isCommitted(this.#firstOpen)) this.#firstOpen++;
    return this.#firstOpen < this.#plan.state.shards ? this.#firstOpen : null;
  }

  async #stallReason(
    state: RunState,
    feeder: Feeder | null,
    oldest: number | null,
    link: RedisLink | 'away' | null,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (state === 'stopped') return 'no feeder: resume the run';
    if (state !== 'running' || feeder?.fleet !== true || link === null) return null;
    if (link === 'away') return WAITING_FOR_REDIS;
    const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const { isClosed } = this.#plan.state;
    const waitsFor = oldest !== null ? this.#plan.find(oldest)!.lane : isClosed ? 'end' : null;
    try {
      return await stallReason(link, { run: this.#record.run, waitsFor }, AbortSignal.any([signal, late]));
    } catch (error) {
      if (signal.aborted || !late.aborted) throw error;
      return WAITING_FOR_REDIS;
    }
  }
}

type OutcomeCounts = Pick<RunStatus, 'judged' | 'review' | 'block' | 'errors'>;

function countsSoFar({ items, errors, review, block }: ShardCounts): OutcomeCounts {
  return { judged: items - errors, review, block, errors };
}

function finalCounts({ verdicts, errors, by_decision: { review, block } }: Summary): OutcomeCounts {
  return { judged: verdicts, review, block, errors };
}

/**
 * Reads the state of a run, without its progress. Failure('usage') if this is not a run directory, 'purged' if the run
 * was purged.
 */
export async function readRunState(path: string, signal: AbortSignal): Promise<Exclude<RunState, 'purged'>> {
  const dir = resolve(path);
  if ((await readRunRecord(dir)) === null) throw await notARun(path, signal);
  await assertNotPurged(dir);
  const feeder = await readFeeder(dir);
  return (await finishedSummary(dir)) === null ? openState(dir, feeder) : 'finished';
}

async function openState(
  dir: string,
  feeder: Feeder | null,
): Promise<Exclude<RunState, 'purged' | 'finished'>> {
  if (await hasMarker(dir, 'cancelled')) return 'cancelled';
  if (feeder?.alive !== true) return 'stopped';
  return (await hasMarker(dir, 'paused')) ? 'paused' : 'running';
}

/** Lists the run directories of a folder, newest first, at most `max`, including damaged ones. */
export async function listRuns(folder: string, max: number): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const runs: string[] = [];
  for (const name of names.sort().reverse()) {
    if (runs.length === max) break;
    const dir = join(folder, name);
    if (!name.startsWith('.') && existsSync(join(dir, RUN_FILES.run))) runs.push(dir);
  }
  return runs;
}

const WINDOW_MS = 60_000;

/** Items committed per second over the last minute; null if there were none. */
export async function recentRate(runDir: string, now: Date): Promise<number | null> {
  const epoch = (await listEpochs(runDir)).at(-1);
  if (epoch === undefined) return null;
  let items = 0;
  let from = now.getTime();
  for (const line of await lastLines(runDir, epoch)) {
    const commit = parseChainLine(line);
    if (commit === null || !('shard' in commit)) continue;
    const at = Date.parse(commit.at);
    if (now.getTime() - at > WINDOW_MS) continue;
    items += commit.tally.items;
    from = Math.min(from, at);
  }
  const seconds = (now.getTime() - from) / 1000;
  return items === 0 || seconds <= 0 ? null : items / seconds;
}
