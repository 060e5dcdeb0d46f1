import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import { placeInCorpus } from '../../ingest/sources/file-place.ts';
import { configOf, type SidecarSnapshot, type SourceSnapshot } from '../../ingest/sources/sources-file.ts';
import { checkedManifest } from '../../analysis/finished-verdicts.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Manifest } from '../../record/manifest/manifest.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import { readSourceHashes } from '../../record/manifest/source-hashes.ts';
import { Restrictions } from '../../record/restricted/restrictions.ts';
import type { Run } from '../../runs/create-run.ts';
import { openRun } from '../../runs/open-run.ts';
import { ExportManifest } from './export-manifest.ts';
import { exportSource } from './export-source.ts';
import type { ExportKind, JudgedSource, SourceExport } from './source-export.ts';
import { addRows, countRejected, LeftOut, noRows, type RowCounts } from './left-out.ts';
import { assertFree, destinationOf } from './destination.ts';
import { OutputPlace, type WrittenFile } from './output.ts';
import { SourceRefused, type Keeping, type Reason, type SourceReason } from './reasons.ts';
import { VerdictCursor } from './verdict-cursor.ts';

/** Maximum refused sources that a result names. */
const MAX_NAMED = 20;

/** A finished run whose record was checked as far as an export needs it. */
export interface FinishedRun {
  readonly run: Run;
  readonly manifest: Manifest;
  /** SHA-256 of manifest.json, in hex. */
  readonly manifestSha256: string;
}

/** Files of the record that an export reads. */
const READ: ReadonlySet<string> = new Set([
  RUN_FILES.run,
  RUN_FILES.sources,
  RUN_FILES.sourceHashes,
  RUN_FILES.verdicts,
]);

/**
 * Opens a finished run. Checks the manifest against its hash, and the files of the run against the manifest: those that
 * an export reads by their hashes, the others by their sizes. Failure('usage') for a directory that is not a run
 * directory, Failure('internal') for an unfinished run and for a record that failed verification.
 */
export async function openFinishedRun(runDir: string, signal: AbortSignal): Promise<FinishedRun> {
  const run = await openRun(runDir, signal);
  const manifest = await checkedManifest(run.dir, READ, signal);
  if (manifest.run !== run.record.run || manifest.sources !== run.sources.length) {
    throw new Failure('internal', `${RUN_FILES.manifest} belongs to another run`);
  }
  const manifestSha256 = createHash('sha256')
    .update(await readRunFile(run.dir, RUN_FILES.manifest))
    .digest('hex');
  return { run, manifest, manifestSha256 };
}

export interface ExportOptions {
  readonly what: ExportKind;
  /** Absolute path of the file or folder to write. */
  readonly out: string;
  readonly signal: AbortSignal;
}

/** The result of an export. */
export interface ExportResult {
  readonly run: string;
  readonly kind: ExportKind['kind'];
  /**
   * Absolute paths: the corpus (null if it is a single file that was refused), the list of exclusions, the manifest of
   * the export.
   */
  readonly out: string | null;
  readonly rejected: string;
  readonly manifest: string;
  /** A file that is one item counts as a row. */
  readonly rows: { readonly kept: number; readonly rejected: number };
  /** Excluded rows, by their main reason. */
  readonly by_reason: Readonly<Partial<Record<Reason, number>>>;
  readonly sources: {
    /** Files written. */
    readonly written: number;
    /** Files written as UTF-8 whose sources have other encodings. */
    readonly converted: number;
    /** Sources that could not be exported. */
    readonly refused: number;
    /** The first refused sources. */
    readonly refused_paths: readonly { readonly path: string; readonly reason: SourceReason }[];
  };
}

/**
 * Exports the corpus of a finished run: reads its sources again, in parallel with its outcome lines. One table becomes
 * a file, anything else a folder with the paths of the outcome lines. Failure('usage') if a path is taken, or the
 * records already have what would be added; nothing is written then.
 */
export async function exportRun(finished: FinishedRun, options: ExportOptions): Promise<ExportResult> {
  const { run } = finished;
  const destination = destinationOf(options.out);
  await assertFree(destination, run.record.config.sources);
  const place = await OutputPlace.open(destination, !isOneFile(run));
  try {
    const result = await write(finished, place, options);
    const hasCorpus = await place.publish();
    const { rejected, manifest } = destination;
    return { ...result, out: hasCorpus ? destination.out : null, rejected, manifest };
  } finally {
    await place.discard();
  }
}

async function write(
  { run, manifestSha256 }: FinishedRun,
  place: OutputPlace,
  { what, out, signal }: ExportOptions,
): Promise<Omit<ExportResult, 'out' | 'rejected' | 'manifest'>> {
  const { record, sources } = run;
  const { policy, limits } = record.config;
  const restrictions = await Restrictions.read(run.dir, { run: record.run, policy }, signal);
  const isFolder = !isOneFile(run);
  const rejected = await place.createBeside('rejected');
  const about = await ExportManifest.begin(await place.createBeside('manifest'), {
    run: record.run,
    manifest_sha256: manifestSha256,
    ...what,
    policy,
  });
  const cursor = new VerdictCursor(run.dir, policy, signal);
  const leftOut = new LeftOut(record.run, rejected);
  const keeping: Keeping = {
    restrictions,
    keepReview: what.kind === 'clean' && what.keepReview,
    ignoreReviews: what.kind === 'clean' && what.ignoreReviews,
    isTrial: record.config.trial !== null,
  };
  const { itemBytes } = limits;
  const to: SourceExport = { what, cursor, place, leftOut, captions: new Set(), keeping, itemBytes, signal };
  const captions = ownCaptions(run, isFolder);
  const total = noRows();
  const refused: { path: string; reason: SourceReason }[] = [];
  let written = 0;
  let converted = 0;
  let refusals = 0;
  let seen = 0;
  try {
    for await (const { source: index, sha256 } of readSourceHashes(run.dir, signal)) {
      signal.throwIfAborted();
      const source = sources[index];
      if (source === undefined) break;
      seen++;
      const config = configOf(source, record.config.sources);
      const judged = { source, config, sha256, caption: captions(source) };
      const exported = await exportOrRefuse(judged, to, total);
      if (typeof exported === 'string') {
        if (++refusals <= MAX_NAMED) refused.push({ path: source.path, reason: exported });
      } else if (exported !== null) {
        written++;
        if (exported.isConverted) converted++;
        const { file, caption, rows } = exported;
        const path = isFolder ? source.path : basename(out);
        await about.file({ path, source: source.path, rows, ...file });
        if (caption !== null)
          await about.file({ path: source.sidecar!.path, source: source.path, rows: 0, ...caption });
      }
    }
    if (seen !== sources.length)
      throw new Failure(
        'internal',
        `${RUN_FILES.sourceHashes} has only ${seen} of ${sources.length} sources`,
      );
    const beyond = await cursor.peek();
    if (beyond !== null) {
      throw new Failure(
        'internal',
        `item ${beyond.seq} is of ${escapeText(beyond.source.path)}, which is not a source of the run`,
      );
    }
    const { kept, byReason } = total;
    const rows = { kept, rejected: total.rejected };
    const by_reason: ExportResult['by_reason'] = Object.fromEntries(byReason);
    await about.end({ rows, by_reason, rejected: await rejected.complete() });
    const counts = { written, converted, refused: refusals, refused_paths: refused };
    return { run: record.run, kind: what.kind, rows, by_reason, sources: counts };
  } finally {
    await cursor.close();
    await rejected.close();
    await about.close();
  }
}

interface SourceWritten {
  readonly rows: number;
  readonly file: WrittenFile;
  readonly caption: WrittenFile | null;
  readonly isConverted: boolean;
}

/**
 * Exports a source, and adds its rows to `total`. Returns null if nothing was written, or the reason why it was
 * refused.
 */
async function exportOrRefuse(
  judged: JudgedSource,
  to: SourceExport,
  total: RowCounts,
): Promise<SourceWritten | SourceReason | null> {
  const { source } = judged;
  const { cursor, leftOut } = to;
  const passed = cursor.rows;
  try {
    const { counts, file, caption, isConverted } = await exportSource(judged, to);
    await cursor.passSource(source.path);
    addRows(total, counts);
    return file === null ? null : { rows: counts.kept, file, caption, isConverted };
  } catch (error) {
    if (!(error instanceof SourceRefused)) throw error;
    await cursor.passSource(source.path);
    countRejected(total, error.reason, cursor.rows - passed);
    await leftOut.source(source, error.reason);
    return error.reason;
  }
}

/** The captions to copy with their files, if the export is a folder: those that are not sources themselves. */
function ownCaptions(
  { sources }: Run,
  isFolder: boolean,
): (source: SourceSnapshot) => SidecarSnapshot | null {
  if (!isFolder || sources.every(({ sidecar }) => sidecar === null)) return () => null;
  const known = new Set(sources.map(({ path }) => path));
  return ({ sidecar }) => (sidecar === null || known.has(sidecar.path) ? null : sidecar);
}

/** Whether the run had a single file, named by the user. */
function isOneFile({ sources, record }: Run): boolean {
  return sources.length === 1 && record.config.sources.length === 1 && placeInCorpus(sources[0]!).path === '';
}
