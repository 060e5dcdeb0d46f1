import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import { makeFingerprint } from '../domain/fingerprint.ts';
import { readSources } from '../ingest/sources-file.ts';
import type { CorpusAccounts, EmptySources } from './corpus-accounts.ts';
import { FileComparison } from './file-comparison.ts';
import { readManifest, type Manifest } from './manifest.ts';
import { OutcomeFiles } from './outcome-files.ts';
import { parseOutcomeLine } from './outcome-schema.ts';
import { outlinePlan, type PlanOutline } from './plan-outline.ts';
import { RUN_FILES, commitsName } from './run-files.ts';
import { RunReading, isComplete } from './run-reading.ts';
import { makeSummary, summaryJson } from './summary.ts';
import type { Counts } from './tally.ts';
import { checkCoverage, checkHashes, checkListing } from './verify-files.ts';
import { damageOf, lostToDamage, readChain, type Chain } from './verdict-log/read-chain.ts';
import { workingSeconds } from './verdict-log/working-time.ts';

export interface VerifyOptions {
  /** Chain head that was kept elsewhere: 64 hex digits. */
  readonly head?: string;
  readonly signal?: AbortSignal;
}

/** Whether a run's record holds; else the first thing that does not, in one line with file and position. */
export type VerifyReport =
  | {
      readonly ok: true;
      readonly run: string;
      readonly pass: number;
      readonly head: string;
      readonly items: number;
      readonly verdicts: number;
      readonly errors: number;
      /** Outcomes that had been committed, were found damaged, and were judged again. */
      readonly lostToDamage: number;
    }
  | { readonly ok: false; readonly problem: string };

/**
 * Checks the record of a finished run: the manifest against its hash; the files against the manifest; the chain from
 * run.json to its head; every segment against its commits; outcomes against the plan; decisions against the policy;
 * accounting per source; and everything that is made from the log, by making it again.
 * Failure('usage') when the directory is none of a run; the signal's reason when aborted.
 */
export async function verifyRun(runDir: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const signal = options.signal ?? new AbortController().signal;
  if (!existsSync(join(runDir, RUN_FILES.run)) && !existsSync(join(runDir, RUN_FILES.manifest))) {
    throw new Failure(
      'usage',
      `${runDir} is not a run directory: it has neither ${RUN_FILES.run} nor ${RUN_FILES.manifest}; type the path that enqueue printed`,
    );
  }
  try {
    return await verify(runDir, options.head ?? null, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) return { ok: false, problem: error.message };
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined || path === undefined) throw error;
    return { ok: false, problem: `${basename(path)} cannot be read (${code})` };
  }
}

async function verify(
  runDir: string,
  expectedHead: string | null,
  signal: AbortSignal,
): Promise<VerifyReport> {
  const manifest = await readManifest(runDir);
  await checkListing(runDir, manifest);
  const chain = await readChain(runDir, { below: manifest.epoch + 1, signal });
  checkChain(chain, manifest, expectedHead);
  checkCoverage(chain, manifest);
  const record = await readRecord(runDir, manifest);
  const plan = await checkPlan(runDir, chain, manifest, signal);
  await checkSources(runDir, record, manifest, signal);
  const reading = await RunReading.open({ runDir, record, chain, plan, signal, parse: parseOutcomeLine });
  const files = await checkOutcomeFiles(runDir, record, reading);
  const counts = reading.tally.counts();
  await checkSummary(runDir, record, chain, plan, counts, {
    emptySources: reading.emptySources(),
    files: [...files, RUN_FILES.summary, RUN_FILES.manifest],
  });
  checkCounts(manifest, counts, reading.accounts);
  await checkHashes(runDir, manifest, signal);
  const { items, verdicts, errors } = counts;
  return {
    ok: true,
    run: manifest.run,
    pass: manifest.pass,
    head: chain.position.head,
    items,
    verdicts,
    errors,
    lostToDamage: lostToDamage(chain),
  };
}

function checkChain(chain: Chain, manifest: Manifest, expectedHead: string | null): void {
  if (chain.endsBefore !== null) {
    const { epoch, line } = chain.endsBefore;
    throw broken(`log/${commitsName(epoch)} line ${line} does not follow from the line before it`);
  }
  const { epoch, head } = chain.position;
  if (epoch !== manifest.epoch || head !== manifest.chain_head) {
    throw broken(`the chain does not end at the head that ${RUN_FILES.manifest} names`);
  }
  if (expectedHead !== null && expectedHead.toLowerCase() !== head) {
    throw broken(`the chain head is ${head}, not the expected one`);
  }
  const fingerprints = [...chain.fingerprints.values()];
  for (const { id, artifacts } of fingerprints) {
    if (makeFingerprint(Object.entries(artifacts))?.id !== id) {
      throw broken(`fingerprint ${id} in the log is not that of its artifacts`);
    }
  }
  if (JSON.stringify(damageOf(chain)) !== JSON.stringify(manifest.damage)) {
    throw broken(`${RUN_FILES.manifest} has other damage than the log`);
  }
  if (JSON.stringify(fingerprints) !== JSON.stringify(manifest.fingerprints)) {
    throw broken(`${RUN_FILES.manifest} has other fingerprints than the log`);
  }
}

const RECORD = z.looseObject({
  schema: z.literal(1),
  run: z.string(),
  created_at: z.string(),
  skipped: z.record(z.string(), z.number()),
  config: z.looseObject({
    sources: z.array(z.unknown()).min(1),
    policy: z.looseObject({}),
    output: z.looseObject({ formats: z.array(z.enum(['jsonl', 'csv'])) }),
  }),
});

/** run.json, whose bytes the chain starts from: what it holds was checked when it was frozen. */
async function readRecord(runDir: string, manifest: Manifest): Promise<RunRecord> {
  let record: RunRecord;
  try {
    const value: unknown = JSON.parse(await readFile(join(runDir, RUN_FILES.run), 'utf8'));
    RECORD.parse(value);
    record = value as RunRecord;
  } catch (cause) {
    throw new Failure('internal', `${RUN_FILES.run} is damaged`, { cause });
  }
  if (record.run !== manifest.run || record.created_at !== manifest.created_at) {
    throw broken(`${RUN_FILES.manifest} is that of another run`);
  }
  return record;
}

async function checkPlan(
  runDir: string,
  chain: Chain,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<PlanOutline> {
  const path = join(runDir, RUN_FILES.plan);
  const bytes = manifest.files.find((file) => file.path === RUN_FILES.plan)?.bytes ?? 0;
  const plan = await outlinePlan(path, chain.commits, { signal, bytes });
  if (!isComplete(plan) || plan.bytes !== bytes || plan.pass !== manifest.pass) {
    throw broken(`${RUN_FILES.plan} is not the plan of a finished pass ${manifest.pass}`);
  }
  if (plan.committed !== chain.commits.shards) throw broken('the log has shards that are not planned');
  const { size } = await stat(path);
  if (size > bytes) {
    const whole = await outlinePlan(path, chain.commits, { signal });
    const same =
      whole.epoch === plan.epoch &&
      whole.shards === plan.shards &&
      whole.closed.length === plan.closed.length;
    if (!same) {
      throw broken(`${RUN_FILES.plan} was continued after the run was finished`);
    }
  }
  return plan;
}

async function checkSources(
  runDir: string,
  record: RunRecord,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<void> {
  const frozen = manifest.files.find(({ path }) => path === RUN_FILES.sources)?.sha256;
  if (frozen !== record.sources_sha256) {
    throw broken(`${RUN_FILES.sources} is not the list of files that ${RUN_FILES.run} froze`);
  }
  let index = 0;
  for await (const batch of readSources(join(runDir, RUN_FILES.sources), { signal })) {
    for (const { path, bytes } of batch) {
      const listed = manifest.sources[index++];
      if (listed?.path !== path || listed.bytes !== bytes) {
        throw broken(`${RUN_FILES.sources} line ${index} is not the source that ${RUN_FILES.manifest} lists`);
      }
    }
  }
  if (index !== manifest.sources.length) {
    throw broken(`${RUN_FILES.manifest} lists more sources than ${RUN_FILES.sources}`);
  }
}

/** Makes the text of the files that consist of outcomes again; gives their names. */
async function checkOutcomeFiles(runDir: string, record: RunRecord, reading: RunReading): Promise<string[]> {
  const opened = new Map<string, FileComparison>();
  const open = async (name: string): Promise<FileComparison> => {
    const file = await FileComparison.open(runDir, name);
    opened.set(name, file);
    return file;
  };
  try {
    const files = await OutcomeFiles.begin(open, record.config.output.formats);
    for await (const batch of reading.outcomes()) await files.add(batch);
    for (const file of opened.values()) await file.complete();
    return [...opened.keys()];
  } finally {
    for (const file of opened.values()) await file.close();
  }
}

async function checkSummary(
  runDir: string,
  record: RunRecord,
  chain: Chain,
  plan: PlanOutline,
  counts: Counts,
  rest: { readonly emptySources: EmptySources; readonly files: readonly string[] },
): Promise<void> {
  const text = await readFile(join(runDir, RUN_FILES.summary), 'utf8');
  // The run may have been moved since: its directory is the one thing the summary says that the log does not.
  let dir: unknown;
  try {
    dir = (JSON.parse(text) as { dir: unknown }).dir;
  } catch (cause) {
    throw new Failure('internal', `${RUN_FILES.summary} is damaged`, { cause });
  }
  const summary = makeSummary({
    record,
    dir: String(dir),
    status: 'finished',
    counts,
    seconds: workingSeconds(chain.parts),
    pass: plan.pass,
    chainHead: chain.position.head,
    lostToDamage: lostToDamage(chain),
    ...rest,
  });
  if (summaryJson(summary) !== text)
    throw broken(`${RUN_FILES.summary} does not say what the verdict log says`);
}

function checkCounts(manifest: Manifest, counts: Counts, accounts: CorpusAccounts | null): void {
  const { items, verdicts, errors, corpora } = manifest.counts;
  const same =
    items === counts.items &&
    verdicts === counts.verdicts &&
    errors === counts.errors &&
    JSON.stringify(corpora) === JSON.stringify(accounts?.accounts());
  if (!same) throw broken(`the counts in ${RUN_FILES.manifest} are not those of the verdict log`);
}

function broken(what: string): Failure {
  return new Failure('internal', what);
}
