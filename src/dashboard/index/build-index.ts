import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Database, type DatabaseLimits } from '../../analysis/database.ts';
import { checkedManifest } from '../../analysis/finished-verdicts.ts';
import { sqlText } from '../../analysis/duckdb.ts';
import { ReviewedItems } from '../../analysis/reviewed-items.ts';
import { ScoreColumns } from '../../analysis/score-columns.ts';
import { VERDICTS_IN_TABLE } from '../../analysis/verdict-columns.ts';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { readManifest } from '../../record/manifest/manifest.ts';
import { readRecord } from '../../record/read-record.ts';
import { DashboardError } from '../errors.ts';
import type { Reviews } from '../reviews/reviews.ts';
import { createItems } from './items-table.ts';
import { LinesBySeq } from './lines-by-seq.ts';
import { RunIndex, type RunIndexParts } from './run-index.ts';
import { findStoredIndex, sourceOfIndex, storeIndex } from './stored-index.ts';

interface BuildOptions {
  readonly runDir: string;
  /** Reviews of the run's folder. */
  readonly reviews: Reviews;
  /** An empty folder, private to this process. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Files verified by hash. The hash of the outcomes is verified when they are read; everything else is checked by size.
 */
const READ: ReadonlySet<string> = new Set([RUN_FILES.run, RUN_FILES.verdictsParquet]);

/** Loading takes the most memory; queries over a million rows take a tenth of it. */
const limits = (): DatabaseLimits => ({
  ...{ memory: '384MB', connections: 2, queryTimeoutMs: 20_000, inOrder: false, keptMemory: null },
  threads: Math.min(4, availableParallelism()),
});

/**
 * Indexes a finished run from its verdicts.parquet and the lines of its verdicts.jsonl. The table of its items is
 * stored with the run, where the next server finds it. CONFLICT if the run is being judged again; Failure('internal')
 * if its record fails verification; rejects with the signal's reason when aborted.
 */
export async function buildIndex({ runDir, reviews, folder, signal }: BuildOptions): Promise<RunIndex> {
  const record = await readRecord(runDir);
  if (((await listEpochs(runDir)).at(-1) ?? 0) > (await readManifest(runDir)).epoch) throw notFinished();
  const manifest = await checkedManifest(runDir, READ, signal);
  if (manifest.run !== record.run)
    throw new Failure('internal', `${RUN_FILES.manifest} belongs to another run`);
  const { sha256 } = manifest.files.find(({ path }) => path === RUN_FILES.verdicts) ?? {};
  if (sha256 === undefined)
    throw new Failure('internal', `${RUN_FILES.manifest} does not list ${RUN_FILES.verdicts}`);
  const sources = { verdicts: sha256, table: sourceOfIndex(manifest, READ) };
  return openIndex({ record, runDir, reviews }, sources, folder, signal);
}

/** Source of the index; null for an index that is neither verified nor stored. */
type IndexSources = { readonly verdicts: string; readonly table: string } | null;

/** Opens the index over the files of a run with a verified verdicts.parquet. */
export async function openIndex(
  parts: RunIndexParts,
  sources: IndexSources,
  folder: string,
  signal: AbortSignal,
): Promise<RunIndex> {
  const { record, runDir } = parts;
  const { policy } = record.config;
  const table = join(runDir, RUN_FILES.verdictsParquet);
  const database = await Database.create(folder, limits(), 'in memory');
  let lines: LinesBySeq | null = null;
  try {
    const scored = await ScoreColumns.of(database, table, [policy], signal);
    const [scan, load] = await Promise.allSettled([
      LinesBySeq.scan(join(runDir, RUN_FILES.verdicts), sources?.verdicts ?? null, signal),
      findItems(parts, sources, scored, folder, signal),
    ]);
    // An error of the file takes precedence over an error of loading.
    if (scan.status === 'rejected') throw scan.reason;
    lines = scan.value;
    if (load.status === 'rejected') throw load.reason;
    await database.load(`ATTACH ${sqlText(load.value)} AS built (READ_ONLY)`, [], signal);
    const reviewed = await ReviewedItems.create(database, 'built.items', parts, signal);
    await database.lock();
    return new RunIndex(parts, { lines, database, scored, reviewed });
  } catch (error) {
    await database.close();
    await lines?.close();
    throw error;
  }
}

/** Path of a database with the table of items, which is created unless a server has stored one. */
async function findItems(
  { record, runDir }: RunIndexParts,
  sources: IndexSources,
  scored: ScoreColumns,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const stored = sources && (await findStoredIndex(runDir, sources.table, signal));
  if (stored !== null) return stored;
  const built = join(folder, 'built');
  await mkdir(built);
  const database = await Database.create(built, limits());
  try {
    const create = createItems(record.config.policy, scored, VERDICTS_IN_TABLE);
    await database.load(create, [join(runDir, RUN_FILES.verdictsParquet)], signal);
    await database.lock();
  } finally {
    await database.close();
  }
  if (sources !== null) await storeIndex(runDir, sources.table, database.path, signal);
  return database.path;
}

/** Error for a run that is not finished, whose record has no final outcomes yet. */
export function notFinished(): DashboardError {
  return new DashboardError('CONFLICT', 'the run is not finished: its items can be reviewed once it is');
}
