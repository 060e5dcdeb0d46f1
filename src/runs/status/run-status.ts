import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlan } from '../../ingest/plan-file.ts';
import { isClosing } from '../../ingest/plan-state.ts';
import { type RedisLink } from '../../queue/redis/link.ts';
import { RUN_FILES } from '../../sink/run-files.ts';
import { readChain } from '../../sink/verdict-log/read-chain.ts';
import { hasMarker } from '../control/control-files.ts';
import { readFeeder, type Feeder } from '../control/feed-claim.ts';
import { stuckReason } from '../fleet/stuck-reason.ts';
import { openRun, readRunRecord } from '../open-run.ts';
import { surveyRun } from '../next-pass.ts';
import { finishedSummary } from '../run-state.ts';
import { recentRate } from './recent-rate.ts';

/** Where a run stands, as its directory says. */
export interface RunStatus {
  readonly run: string;
  /** Absolute. */
  readonly dir: string;
  /** `stopped`: there is work left and nobody feeds it. */
  readonly state: 'running' | 'paused' | 'stopped' | 'cancelled' | 'finished';
  readonly pass: number;
  /** Of the current pass: items planned so far, and whether that is all. */
  readonly planned: number;
  readonly plan_closed: boolean;
  readonly judged: number;
  readonly errors: number;
  readonly shards: { readonly planned: number; readonly committed: number };
  /** The lowest shard that is planned and not committed; null when there is none. */
  readonly oldest_open_shard: number | null;
  readonly items_per_second: number | null;
  /** Seconds left at that rate; null while the plan is open, or without a rate. */
  readonly seconds_left: number | null;
  readonly feeder: Feeder | null;
  /** Why it does not go on; null when it does, or has no need to. */
  readonly stuck: string | null;
}

/**
 * Where a run stands. With a Redis it also says what the run lacks of its fleet. Reads the plan and the log, writes
 * nothing. Failure('usage') when the directory is none of a run.
 */
export async function readStatus(
  runDir: string,
  link: RedisLink | null,
  signal: AbortSignal,
): Promise<RunStatus> {
  const run = await openRun(runDir, signal);
  const chain = await readChain(run.dir, { signal });
  const survey = await surveyRun(run, (shard) => chain.commits.has(shard), signal);
  const pass = Math.max(1, survey.latestPass);
  const counts = chain.commits.counts(pass);
  const feeder = await readFeeder(run.dir);
  const fed = feeder?.alive === true;
  const finished = (await finishedSummary(run.dir)) !== null;
  const paused = await hasMarker(run.dir, 'paused');
  const cancelled = await hasMarker(run.dir, 'cancelled');
  const state = finished
    ? 'finished'
    : cancelled
      ? 'cancelled'
      : !fed
        ? 'stopped'
        : paused
          ? 'paused'
          : 'running';
  const closed = survey.closed.has(pass);
  const rate = state === 'running' ? await recentRate(run.dir, new Date()) : null;
  return {
    run: run.record.run,
    dir: run.dir,
    state,
    pass,
    planned: survey.items,
    plan_closed: closed,
    judged: counts.items - counts.errors,
    errors: counts.errors,
    shards: { planned: survey.nextShard, committed: survey.nextShard - survey.uncommitted },
    oldest_open_shard: survey.uncommitted === 0 ? null : await oldestOpen(run.dir, chain.commits, signal),
    items_per_second: rate,
    seconds_left: rate === null || !closed ? null : (survey.items - counts.items) / rate,
    feeder,
    stuck:
      state === 'stopped'
        ? 'no feeder: resume the run'
        : state === 'running' && feeder?.fleet === true
          ? await fleetReason(link, run.record.run, signal)
          : null,
  };
}

async function fleetReason(link: RedisLink | null, run: string, signal: AbortSignal): Promise<string | null> {
  return link === null ? null : stuckReason(link, run, signal);
}

async function oldestOpen(
  runDir: string,
  commits: { has(shard: number): boolean },
  signal: AbortSignal,
): Promise<number | null> {
  for await (const lines of readPlan(join(runDir, RUN_FILES.plan), { signal })) {
    for (const line of lines) if (!isClosing(line) && !commits.has(line.shard)) return line.shard;
  }
  return null;
}

/** The run directories of a folder, newest first, at most `most`. */
export async function listRuns(folder: string, most: number): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const runs: string[] = [];
  for (const name of names.sort().reverse()) {
    if (runs.length === most) break;
    const dir = join(folder, name);
    if (!name.startsWith('.') && (await readRunRecord(dir)) !== null) runs.push(dir);
  }
  return runs;
}
