import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { RunConfig, RunRecord } from '../../src/config/run-config.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.ts';
import type { ShardResult } from '../../src/domain/shard.ts';
import { PlanWriter } from '../../src/ingest/plan/plan-file.ts';
import type { PlanClosed } from '../../src/ingest/plan/plan-line.ts';
import { finishRun, type FinishOptions } from '../../src/sink/final-files/finish.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { claimLog, type ClaimOptions } from '../../src/sink/verdict-log/claim-log.ts';
import type { LogWriter } from '../../src/sink/verdict-log/log-writer.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { FeedClaim } from '../../src/runs/control/feed-claim.ts';
import { createRun } from '../../src/runs/create-run.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { corpusAt, runConfig } from '../helpers/run-config.ts';
import { planLine } from './shards.ts';

export const signal = new AbortController().signal;

interface RunOptions {
  readonly policy?: Policy;
  readonly output?: Partial<RunConfig['output']>;
  /** Names of the source files. */
  readonly sources?: readonly string[];
  readonly maxWaitMs?: number;
  /** Fingerprint id that the run accepts; default: any. */
  readonly expectFingerprint?: string | null;
  /** Part of the run's own name. */
  readonly name?: string;
}

/** For runs with flagged.csv, flagged.xlsx and verdicts.csv, which take most of the time of a small run. */
export const WITH_TABLES: RunOptions = { output: { formats: ['jsonl', 'csv'] } };

/** Makes a run directory in a new temporary folder, as it is after creation. */
export async function newRun(options: RunOptions = {}): Promise<TestRun> {
  const folder = await temporaryFolder();
  const run = `20261121T020000Z-${options.name ?? 'test'}-ab12`;
  const { sources: names = ['corpus.csv'], maxWaitMs = 1000 } = options;
  const { expectFingerprint = null, policy = DEFAULT_POLICY } = options;
  const state = { bytes: 0, mtime_ms: 0, ctime_ms: 0, inode: 0, sidecar: null, manifest: null };
  const sources = names.map((path, source) => {
    return { source, corpus: source, path, absolute: join(folder, path), ...state };
  });
  const corpora = names.map((name) => corpusAt(join(folder, name), { given: name }));
  const config = runConfig(folder, corpora, { expectFingerprint, policy, maxWaitMs });
  const output = { ...config.output, ...options.output };
  const { record } = await createRun({ ...config, output }, sources, {
    now: new Date('2026-11-21T02:00:00.000Z'),
    toolVersion: '0.0.0',
    skipped: { 'system files': 1 },
    skippedFiles: [{ path: 'uploads/.DS_Store', reason: 'system files' }],
    fittedHeaders: [],
    runId: run,
    key: null,
  });
  return { dir: join(folder, run), record };
}

/** A run directory with its record. */
export interface TestRun {
  readonly dir: string;
  readonly record: RunRecord;
}

export function claim(run: TestRun, options: Partial<ClaimOptions> = {}): Promise<LogWriter> {
  return claimLog(run.dir, run.record, { signal, report: () => undefined, ...options });
}

export function openPlan(dir: string, log: LogWriter): Promise<PlanWriter> {
  const { epoch, diskFull } = log;
  const assertCurrent = () => log.assertCurrent();
  return PlanWriter.open(join(dir, 'plan.jsonl'), { epoch, diskFull, assertCurrent });
}

/** A new run with its log and its plan. */
export async function begunRun(options: RunOptions = {}) {
  const run = await newRun(options);
  const log = await claim(run);
  return { run, log, plan: await openPlan(run.dir, log) };
}

/** The right to feed a run, for the rest of the test. */
export async function feeding(dir: string, fleet = true): Promise<FeedClaim> {
  const claim = await FeedClaim.take(dir, { fleet });
  onTestFinished(() => claim.release());
  return claim;
}

/** The line that closes a pass of these shards, with its items by the source that they name. */
export function closingOf(record: RunRecord, pass: number, results: readonly ShardResult[]): PlanClosed {
  const paths = results.flatMap(({ shard }) => shard.items.map(({ source }) => source.path));
  const bySource = record.config.sources.map(({ given }) => paths.filter((path) => path === given).length);
  return { closed: true, pass, shards: results.length, items: paths.length, items_by_source: bySource };
}

/** Plans the shards of one pass, closes it, commits them in the order given by `order`. */
export async function work(
  dir: string,
  log: LogWriter,
  results: readonly ShardResult[],
  order: readonly number[] = results.map((_, index) => index),
): Promise<void> {
  const plan = await openPlan(dir, log);
  await plan.append(results.map(({ shard }) => planLine(shard)));
  const pass = results[0]?.shard.pass ?? 1;
  await plan.append([closingOf(log.record, pass, results)]);
  await plan.close();
  await Promise.all(order.map((index) => log.commit(results[index]!)));
}

/** Does the shards of one pass, finishes the run and closes the writer. */
export async function finishWith(
  log: LogWriter,
  dir: string,
  results: readonly ShardResult[],
): Promise<void> {
  await work(dir, log, results);
  await finishRun(log, signal);
  await log.close();
}

/** The problem that `verify` finds in a record. */
export async function problemOf(dir: string, options: Parameters<typeof verifyRun>[1] = {}): Promise<string> {
  const report = await verifyRun(dir, options);
  expect(report).toEqual({ ok: false, problem: expect.any(String) as string });
  return (report as { readonly problem: string }).problem;
}

/** Claims the log of a run, does the shards of one pass and finishes it; the writer is closed. */
export async function finishPass(
  run: TestRun,
  results: readonly ShardResult[],
  options: FinishOptions = {},
): Promise<{ readonly head: string; readonly summary: Summary }> {
  const log = await claim(run);
  await work(run.dir, log, results);
  const summary = await finishRun(log, signal, options);
  await log.close();
  return { head: log.head, summary };
}

/** A finished run of one pass. */
export async function finishedRun(
  results: readonly ShardResult[],
  options: RunOptions & FinishOptions = {},
): Promise<TestRun & { summary: Summary; head: string }> {
  const run = await newRun(options);
  return { ...run, ...(await finishPass(run, results, options)) };
}
