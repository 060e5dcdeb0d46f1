import { basename } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { FileTooLargeError, NotRegularFileError } from '../../files/open-file.ts';
import { passOfManifest, RUN_FILES } from '../../files/run-files.ts';
import { readPurged } from '../purged.ts';
import { assertRunDirectory } from '../read-record.ts';
import { readChain } from '../log/read-chain.ts';
import { workingSeconds } from '../log/working-time.ts';
import { type Manifest, readManifest } from '../manifest/manifest.ts';
import { LineFiles } from '../outcomes/line-files.ts';
import { runTotals, type RunTotals } from '../outcomes/run-totals.ts';
import { readRecord } from '../read-record.ts';
import { makeSummary, type SummaryInput, summaryJson } from '../summary/summary.ts';
import { trialCounts } from '../summary/trial.ts';
import { checkPlan, checkSources, outlinePlanOf } from './check-plan.ts';
import {
  checkHead,
  checkNotedHeads,
  checkReviews,
  type SignatureState,
  type VerifyOptions,
  verifySignature,
} from './check-seals.ts';
import { FileComparison } from './file-comparison.ts';
import { shardCheck } from './shard-check.ts';
import { checkCoverage, checkHashes, checkListing } from './verify-files.ts';
import { checkChain, checkClosing, checkManifest } from './verify-manifest.ts';
import { type PurgedReport, verifyPurged } from './verify-purged.ts';

/** Whether a run's record is valid or was purged; otherwise the first problem, as one line with file and position. */
type VerifyReport =
  | {
      readonly ok: true;
      readonly run: string;
      readonly pass: number;
      readonly head: string;
      readonly items: number;
      readonly verdicts: number;
      readonly errors: number;
      readonly signature: SignatureState;
    }
  | PurgedReport
  | { readonly ok: false; readonly problem: string };

/**
 * Checks the record of a finished run: the manifest against its hash; the files against the manifest; the chain from
 * run.json to its head; every segment against its commits; outcomes against the plan; decisions against the policy;
 * tallies against outcomes; accounting per source; verdicts.jsonl and the other files of lines against the log; every
 * other file by its hash; the signature and heads kept elsewhere, if given. For a purged run, checks what was kept.
 * Failure('usage') when the directory is not a run directory; Failure('service') when the check could not be made,
 * which says nothing about the record. Rejects with the signal's reason when aborted.
 */
export async function verifyRun(runDir: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const signal = options.signal ?? new AbortController().signal;
  try {
    const purged = await readPurged(runDir);
    if (purged !== null) return await verifyPurged(runDir, purged, options, signal);
    await assertRunDirectory(runDir);
    return await verify(runDir, options, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && error.kind !== 'internal') throw error;
    const failed = couldNotCheck(error);
    if (failed !== null) throw failed;
    if (error instanceof Failure) return { ok: false, problem: error.message };
    if (error instanceof NotRegularFileError || error instanceof FileTooLargeError) {
      return { ok: false, problem: `${basename(error.path)} cannot be read: ${error.message}` };
    }
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined || path === undefined) throw error;
    return { ok: false, problem: `${basename(path)} cannot be read (${code})` };
  }
}

async function verify(
  runDir: string,
  { head, headFile, publicKey }: VerifyOptions,
  signal: AbortSignal,
): Promise<VerifyReport> {
  const manifest = await readManifest(runDir);
  const signature = await verifySignature(runDir, publicKey ?? null);
  await checkListing(runDir, manifest);
  const outline = await outlinePlanOf(runDir, manifest, signal);
  const chain = await readChain(runDir, { below: manifest.epoch + 1, plannedShards: outline.shards, signal });
  const closing = checkChain(chain, manifest);
  if (head !== undefined) checkHead(chain, head);
  if (headFile !== undefined) await checkNotedHeads(chain, manifest.run, headFile, signal);
  checkClosing(closing, manifest);
  checkCoverage(chain, manifest);
  const record = await readRecord(runDir);
  const plan = await checkPlan(runDir, outline, chain, manifest, signal);
  await checkSources(runDir, record, manifest, signal);
  const outcomes = { runDir, record, chain, plan, signal };
  const { rows, hashes, totals } = await checkLines({ ...outcomes, check: shardCheck(outcomes) });
  const tables = tablesIn(manifest, hashes);
  await checkSummary(runDir, {
    record,
    dir: closing.dir,
    status: 'finished',
    trial: trialCounts(record.config.trial, plan),
    counts: totals.counts,
    seconds: workingSeconds(chain.parts),
    pass: plan.pass,
    chainHead: chain.position.head,
    canaries: chain.canaries,
    fingerprints: chain.fingerprints,
    emptySources: totals.emptySources,
    files: [...hashes.keys(), ...tables, RUN_FILES.summary, RUN_FILES.manifest],
    rows: { ...rows, ...closing.rows },
  });
  await checkManifest(runDir, manifest, { closing, record, chain, plan, totals });
  await checkHashes(runDir, manifest, signal, hashes);
  await checkReviews(runDir, signal);
  const { items, verdicts, errors } = totals.counts;
  return {
    ok: true,
    run: manifest.run,
    pass: manifest.pass,
    head: chain.position.head,
    items,
    verdicts,
    errors,
    signature,
  };
}

/** Reads the log, checks each shard, and compares the files of lines. Returns the rows and the hash of each. */
async function checkLines(input: Parameters<typeof runTotals>[0]): Promise<{
  readonly rows: Readonly<Record<string, number>>;
  readonly hashes: ReadonlyMap<string, string>;
  readonly totals: RunTotals;
}> {
  const opened = new Map<string, FileComparison>();
  try {
    const files = await LineFiles.begin(async (name) => {
      const file = await FileComparison.open(input.runDir, name);
      opened.set(name, file);
      return file;
    });
    const totals = await runTotals(input, files);
    const hashes = new Map<string, string>();
    for (const [name, file] of opened) hashes.set(name, await file.complete());
    return { rows: files.rows, hashes, totals };
  } finally {
    for (const file of opened.values()) await file.close();
  }
}

/** Builds the summary again and compares it. */
async function checkSummary(runDir: string, input: SummaryInput): Promise<void> {
  const file = await FileComparison.open(runDir, RUN_FILES.summary);
  try {
    await file.write(summaryJson(makeSummary(input)));
    await file.complete();
  } finally {
    await file.close();
  }
}

/** Files that the manifest lists besides the record and `lines`: tables made from verdicts.jsonl. */
function tablesIn({ files }: Manifest, lines: ReadonlyMap<string, string>): string[] {
  const { run, sources, skipped, plan, summary } = RUN_FILES;
  const others = new Set<string>([run, sources, skipped, plan, summary, ...lines.keys()]);
  return files
    .map(({ path }) => path)
    .filter((path) => !others.has(path) && !path.includes('/') && passOfManifest(path) === null);
}

/** System errors about the record itself: a file is missing, or something else has its name. */
const ABOUT_THE_RECORD: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP']);

/** Fixes for an unreadable file, if its permissions are not the cause. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['EMFILE', 'raise the limit of open files (ulimit -n)'],
  ['ENFILE', 'close programs that hold many files open'],
  ['EIO', 'check the disk, or copy the run to another one'],
]);

/**
 * Failure('service') for an error that says nothing about the record, because the system refused to read a file; null
 * for any other error.
 */
function couldNotCheck(error: unknown): Failure | null {
  let cause = error;
  while (cause instanceof Error && !('errno' in cause)) cause = cause.cause;
  if (!(cause instanceof Error)) return null;
  const { code, path } = cause as NodeJS.ErrnoException;
  if (code === undefined || ABOUT_THE_RECORD.has(code)) return null;
  const named = path === undefined ? 'a file of it' : basename(path);
  const what = `${named} cannot be read (${code}): ${REMEDIES.get(code) ?? 'make it readable'}, then verify again`;
  return new Failure('service', `the record could not be checked: ${what}`, { cause: error });
}
