import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { createFile } from '../../files/create-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { damagedAt, lostToDamage } from '../../record/log/chain.ts';
import { readChain } from '../../record/log/read-chain.ts';
import { workingSeconds } from '../../record/log/working-time.ts';
import { outlinePlan } from '../../record/outcomes/plan-outline.ts';
import { runTotals, type RunTotals } from '../../record/outcomes/run-totals.ts';
import { shardCheck } from '../../record/verify/shard-check.ts';
import { LineFiles } from '../../record/outcomes/line-files.ts';
import { CommitTable } from '../../record/log/commit-table.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import { readRecord } from '../../record/read-record.ts';
import { SUMMARY } from '../../record/summary/summary-schema.ts';
import { makeSummary, type Summary } from '../../record/summary/summary.ts';
import { trialCounts } from '../../record/summary/trial.ts';
import { checkedManifest } from '../../analysis/checked-manifest.ts';

/** What a run directory says, besides its outcomes. */
export interface RunFacts {
  readonly record: RunRecord;
  readonly summary: Summary;
  readonly fingerprints: readonly Fingerprint[];
  readonly canaryChecks: readonly CanaryCheck[];
  /** ISO 8601, UTC, and the SHA-256 of manifest.json; null while the run is not finished. */
  readonly finishedAt: string | null;
  readonly manifestSha256: string | null;
  /** Where the log of an unfinished run is damaged: what follows does not count. */
  readonly damagedAt: string | null;
}

/** What is read of a finished run: checked by hash, everything else by size. */
const READ: ReadonlySet<string> = new Set([
  RUN_FILES.run,
  RUN_FILES.sources,
  RUN_FILES.summary,
  RUN_FILES.verdictsParquet,
]);

/** Reads a finished run; its outcomes are in verdicts.parquet. Failure('internal') for a record that failed verification. */
export async function readFinished(runDir: string, signal: AbortSignal): Promise<RunFacts> {
  const manifest = await checkedManifest(runDir, READ, signal);
  const record = await readRecord(runDir);
  const summary = await readSummary(runDir);
  if (record.run !== manifest.run || summary.run !== manifest.run) {
    throw new Failure('internal', `${RUN_FILES.manifest} belongs to another run`);
  }
  const bytes = await readRunFile(runDir, RUN_FILES.manifest);
  return {
    record,
    summary,
    fingerprints: manifest.fingerprints,
    canaryChecks: manifest.canaries.checks,
    finishedAt: manifest.finished_at,
    manifestSha256: createHash('sha256').update(bytes).digest('hex'),
    damagedAt: null,
  };
}

async function readSummary(runDir: string): Promise<Summary> {
  try {
    return SUMMARY.parse(JSON.parse((await readRunFile(runDir, RUN_FILES.summary)).toString()));
  } catch (cause) {
    throw new Failure('internal', `${RUN_FILES.summary} is not a valid summary`, { cause });
  }
}

/**
 * Reads a run that is not finished, and writes its committed outcome lines to a new file. Another process may be adding to
 * the run. Failure('internal') for a log that fails verification.
 */
export async function readUnfinished(
  runDir: string,
  linesTo: string,
  signal: AbortSignal,
): Promise<RunFacts> {
  const record = await readRecord(runDir);
  const planPath = join(runDir, RUN_FILES.plan);
  // In this order every shard that is seen as committed is also seen as planned.
  const { shards } = await outlinePlan(planPath, new CommitTable(), { signal });
  const chain = await readChain(runDir, { plannedShards: shards, signal });
  const plan = await outlinePlan(planPath, chain.commits, { signal });
  const outcomes = { runDir, record, chain, plan, signal };
  const file = await createFile(linesTo);
  const write = async (content: string | readonly (string | Buffer)[]): Promise<void> => {
    for (const part of [content].flat()) await file.appendFile(part);
  };
  let totals: RunTotals;
  try {
    const lines = await LineFiles.begin(async (name) => ({
      write: name === RUN_FILES.verdicts ? write : async () => undefined,
    }));
    totals = await runTotals({ ...outcomes, check: shardCheck(outcomes) }, lines);
  } finally {
    await file.close();
  }
  const summary = makeSummary({
    record,
    dir: runDir,
    status: 'incomplete',
    trial: trialCounts(record.config.trial, plan),
    counts: { ...totals.counts, items: plan.items },
    emptySources: totals.emptySources,
    seconds: workingSeconds(chain.parts),
    pass: plan.pass,
    canaries: chain.canaries,
    fingerprints: chain.fingerprints,
    chainHead: chain.position.head,
    lostToDamage: lostToDamage(chain),
    files: [],
    rows: {},
  });
  return {
    ...{ record, summary, finishedAt: null, manifestSha256: null, damagedAt: damagedAt(chain.endsBefore) },
    fingerprints: [...chain.fingerprints.values()],
    canaryChecks: chain.canaries,
  };
}
