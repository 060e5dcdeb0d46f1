import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { isThere } from '../../files/is-there.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { type FileEntry, readManifest } from '../../record/manifest/manifest.ts';
import { readRecord } from '../../record/read-record.ts';
import { checkedManifest } from '../../report/checked-manifest.ts';
import { Reviews } from '../reviews/reviews.ts';
import { LinesBySeq } from './lines-by-seq.ts';
import { RunIndex } from './run-index.ts';
import { writeSnapshot } from './snapshot.ts';

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

/** Shares of the work, roughly: writing the outcomes of the log, reading them, loading them. */
const SNAPSHOT = 0.6;
const SCAN = 0.3;

/** run.json is checked by its hash; the outcomes are when they are read; everything else by its size. */
const READ: ReadonlySet<string> = new Set([RUN_FILES.run]);

/**
 * Indexes a run: the verdicts.jsonl of a finished one, which is what its manifest lists, else the outcomes in its log.
 * Failure('internal') for a record that does not hold; rejects with the signal's reason when aborted.
 */
export async function buildIndex({ runDir, folder, signal, progress }: BuildOptions): Promise<BuiltIndex> {
  const record = await readRecord(runDir);
  const finished = await isFinished(runDir);
  let path = join(runDir, RUN_FILES.verdicts);
  let entry: FileEntry | null = null;
  let done = 0;
  if (finished) {
    const manifest = await checkedManifest(runDir, READ, signal);
    if (manifest.run !== record.run) throw new Failure('internal', `${RUN_FILES.manifest} is of another run`);
    entry = manifest.files.find((file) => file.path === RUN_FILES.verdicts) ?? null;
    if (entry === null)
      throw new Failure('internal', `${RUN_FILES.manifest} does not list ${RUN_FILES.verdicts}`);
  } else {
    path = join(folder, RUN_FILES.verdicts);
    await writeSnapshot({ runDir, to: path, signal, progress: (share) => progress(SNAPSHOT * share) });
    done = SNAPSHOT;
  }
  const left = 1 - done;
  const lines = await LinesBySeq.scan(path, {
    signal,
    progress: (share) => progress(done + left * SCAN * share),
  });
  try {
    if (entry !== null && lines.sha256 !== entry.sha256) {
      throw new Failure('internal', `${entry.path} does not have the hash that ${RUN_FILES.manifest} names`);
    }
    const reviews = await Reviews.open({ dir: runDir, run: record.run });
    const index = await RunIndex.build({
      ...{ record, lines, reviews, folder, signal },
      progress: (share) => progress(done + left * (SCAN + (1 - SCAN) * share)),
    });
    return { index, finished };
  } catch (error) {
    await lines.close();
    throw error;
  }
}

/** Whether the pass that the log is in is finished. */
async function isFinished(runDir: string): Promise<boolean> {
  if (!(await isThere(join(runDir, RUN_FILES.manifest)))) return false;
  const manifest = await readManifest(runDir);
  return ((await listEpochs(runDir)).at(-1) ?? 0) <= manifest.epoch;
}
