import { join } from 'node:path';
import { checkedManifest } from '../../analysis/checked-manifest.ts';
import { Failure } from '../../domain/failure.ts';
import { createFile } from '../../files/create-file.ts';
import { pathExists } from '../../files/folders.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { readChain } from '../../record/log/read-chain.ts';
import { readManifest } from '../../record/manifest/manifest.ts';
import { committedLines } from '../../record/outcomes/committed-lines.ts';
import { outlinePlan } from '../../record/outcomes/plan-outline.ts';
import { readRecord } from '../../record/read-record.ts';
import { Reviews } from '../reviews/reviews.ts';
import { RunIndex } from './run-index.ts';

interface BuildOptions {
  readonly runDir: string;
  /** Empty, and private to this process. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Called with the share that is done, 0 … 1. */
  readonly progress: (share: number) => void;
}

export interface BuiltIndex {
  readonly index: RunIndex;
  /** Whether the run is finished: else the index holds what was committed when it was built. */
  readonly finished: boolean;
}

/** Share of the work, roughly, that is writing the outcomes of the log. */
const SNAPSHOT = 0.6;

/** Checked by their hashes; the outcomes are when they are read; everything else by its size. */
const READ: ReadonlySet<string> = new Set([RUN_FILES.run, RUN_FILES.verdictsParquet]);

/**
 * Indexes a run: the verdicts.jsonl of a finished one, which is what its manifest lists, else the outcomes in its log.
 * Failure('internal') for a record that failed verification; rejects with the signal's reason when aborted.
 */
export async function buildIndex({ runDir, folder, signal, progress }: BuildOptions): Promise<BuiltIndex> {
  const record = await readRecord(runDir);
  const finished = await isFinished(runDir);
  let path = join(runDir, RUN_FILES.verdicts);
  let sha256: string | null = null;
  let done = 0;
  if (finished) {
    const manifest = await checkedManifest(runDir, READ, signal);
    if (manifest.run !== record.run)
      throw new Failure('internal', `${RUN_FILES.manifest} belongs to another run`);
    sha256 = manifest.files.find((file) => file.path === RUN_FILES.verdicts)?.sha256 ?? null;
    if (sha256 === null)
      throw new Failure('internal', `${RUN_FILES.manifest} does not list ${RUN_FILES.verdicts}`);
  } else {
    path = join(folder, RUN_FILES.verdicts);
    await writeSnapshot({ runDir, to: path, signal, progress: (share) => progress(SNAPSHOT * share) });
    done = SNAPSHOT;
  }
  const reviews = await Reviews.open({ dir: runDir, run: record.run });
  const index = await RunIndex.build({
    ...{ record, runDir, path, sha256, reviews, folder, signal },
    table: finished ? join(runDir, RUN_FILES.verdictsParquet) : null,
    progress: (share) => progress(done + (1 - done) * share),
  });
  return { index, finished };
}

/** Whether the pass that the log is in is finished. */
async function isFinished(runDir: string): Promise<boolean> {
  if (!(await pathExists(join(runDir, RUN_FILES.manifest)))) return false;
  const manifest = await readManifest(runDir);
  return ((await listEpochs(runDir)).at(-1) ?? 0) <= manifest.epoch;
}

interface SnapshotOptions {
  readonly runDir: string;
  /** File to create. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called with the share of planned items that were written, 0 … 1. */
  readonly progress: (share: number) => void;
}

/**
 * Writes the outcomes that a run has committed by now, in corpus order, as its verdicts.jsonl will have them.
 * Failure('internal') when the log fails verification.
 */
async function writeSnapshot({ runDir, to, signal, progress }: SnapshotOptions): Promise<void> {
  // In this order every shard that is seen as committed is also seen as planned.
  const { commits } = await readChain(runDir, { signal });
  const planPath = join(runDir, RUN_FILES.plan);
  const plan = await outlinePlan(planPath, commits, { signal });
  const log = { runDir, planPath, planBytes: plan.bytes, commits, signal };
  const file = await createFile(to);
  let written = 0;
  try {
    for await (const piece of committedLines(plan.lanes, log)) {
      if (piece.superseded) continue;
      await file.appendFile(piece.bytes);
      written += piece.count;
      progress(written / plan.items);
    }
  } finally {
    await file.close();
  }
}
