import type { RunConfig } from '../config/run-config.ts';
import type { JudgedItem } from '../domain/item.ts';
import { requestBytes } from '../domain/request.ts';
import { readSource } from '../ingest/items/read-source.ts';
import type { FrozenSource } from '../ingest/plan/plan-line.ts';
import { columnsOf, examineFile } from '../ingest/recognise/inspect.ts';
import type { FrozenSources } from '../ingest/sources/frozen-sources.ts';
import { predict, resampled, PieceTally, type ReadFile } from './predict.ts';
import { shuffled } from './statistics.ts';
import { ItemTally } from './tally.ts';

/** Files of one corpus that are looked into: the largest, where most items may be, and others chosen at random. */
const MAX_FILES = 500;
const MAX_LARGEST = 50;
/** Of the bytes to read, for the largest files. */
const LARGEST_SHARE = 0.5;
/** Of each of these at least, in bytes. */
const MIN_LARGEST_BYTES = 64 * 1024;
/** Of one file, in bytes as stored: what follows is estimated. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** Tables whose columns are reported, by their columns. */
const MAX_TABLES = 20;
/** Larger items are counted, but not sent to the guard, in bytes: the sample is held in memory. */
const MAX_SAMPLED_BYTES = 256 * 1024;

/** Columns of a table. */
export interface TableColumns {
  readonly path: string;
  readonly judged: readonly string[];
  readonly not_judged: readonly string[];
}

/** How many items a corpus has: `counted`, or estimated from a part of its bytes or files. */
export type Method = 'counted' | 'estimated';

/** What was found in one corpus. */
export interface CorpusReading {
  readonly read: { readonly files: number; readonly bytes: number; readonly seconds: number };
  /** Files by what they were recognised as, of those that were looked into. */
  readonly layouts: Readonly<Record<string, number>>;
  readonly tables: readonly TableColumns[];
  /** Items that were read. */
  readonly seen: ItemTally;
  readonly predicted: ItemTally;
  /** Totals of items, one for each resample of what was read. */
  readonly totals: readonly number[];
  readonly method: Method;
}

interface ReadCorpusOptions {
  readonly config: RunConfig;
  readonly frozen: FrozenSources;
  /** Most bytes to read of the corpus. */
  readonly maxBytes: number;
  /** Takes the items that may be sent to a guard. */
  readonly sample: (item: JudgedItem) => void;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Reads a corpus, or a part of its files and the beginnings of large ones. `sources` are all its files. */
export async function readCorpus(
  sources: readonly FrozenSource[],
  options: ReadCorpusOptions,
): Promise<CorpusReading> {
  const { maxBytes, random } = options;
  const begunAt = performance.now();
  const files: ReadFile[] = [];
  const layouts: Record<string, number> = {};
  const tables = new Map<string, TableColumns>();
  let bytes = 0;
  const largest = new Set(
    sources.length <= MAX_FILES ? [] : sources.toSorted((a, b) => b.bytes - a.bytes).slice(0, MAX_LARGEST),
  );
  const ofLargest = Math.max(MIN_LARGEST_BYTES, (LARGEST_SHARE * maxBytes) / MAX_LARGEST);
  const others = sources.filter((source) => !largest.has(source));
  for (const source of [...largest, ...shuffled(others, random)]) {
    if (files.length >= MAX_FILES || (bytes >= maxBytes && files.length > 0)) break;
    const { layout, table } = await recognised(source, options);
    layouts[layout] = (layouts[layout] ?? 0) + 1;
    const key = table && JSON.stringify([table.judged, table.not_judged]);
    if (key !== null && tables.size < MAX_TABLES && !tables.has(key)) tables.set(key, table!);
    const isLargest = largest.has(source);
    const most = Math.min(MAX_FILE_BYTES, isLargest ? ofLargest : maxBytes - bytes);
    const file = { ...(await readFile(source, most, options)), isLargest };
    bytes += source.bytes * file.share;
    files.push(file);
  }
  const seen = new ItemTally();
  for (const file of files) seen.addScaled(file.seen, 1);
  const isWhole = files.length === sources.length && files.every(({ share }) => share === 1);
  const predicted = isWhole ? seen : predict(sources, files);
  return {
    read: {
      files: files.length,
      bytes: Math.round(bytes),
      seconds: (performance.now() - begunAt) / 1000,
    },
    layouts,
    tables: [...tables.values()],
    seen,
    predicted,
    totals: isWhole ? [predicted.total] : resampled(sources, files, random),
    method: isWhole ? 'counted' : 'estimated',
  };
}

async function recognised(
  source: FrozenSource,
  { config, signal }: ReadCorpusOptions,
): Promise<{ layout: string; table: TableColumns | null }> {
  const corpus = config.sources[source.corpus]!;
  if (source.manifest === source.source) return { layout: 'manifest', table: null };
  const examined = await examineFile(source, corpus, config.limits.itemBytes, signal);
  if (examined === null) return { layout: 'unreadable', table: null };
  switch (examined.kind) {
    case 'text':
      return { layout: 'text', table: null };
    case 'media':
      return { layout: examined.modality, table: null };
    case 'refused':
      return {
        layout: `refused (${examined.error.code})`,
        table: null,
      };
    case 'records': {
      const { judged, unjudged } = columnsOf(examined, source, corpus);
      return {
        layout: examined.layout.kind,
        table: { path: source.path, judged, not_judged: unjudged },
      };
    }
  }
}

async function readFile(
  source: FrozenSource,
  maxBytes: number,
  { config, frozen, sample, signal }: ReadCorpusOptions,
): Promise<Omit<ReadFile, 'isLargest'>> {
  const seen = new ItemTally();
  const { itemBytes, mediaBytes } = config.limits;
  let bytes = 0;
  let hasRecords = false;
  let isWhole = true;
  const pieces = new PieceTally();
  const onBytes = (soFar: number): void => void (bytes = soFar);
  const options = { frozen, itemBytes, mediaBytes, signal, onBytes };
  for await (const items of readSource(source, config.sources[source.corpus]!, 0, options)) {
    for (const item of items) {
      seen.add(item);
      hasRecords ||= item.source.row !== null;
      if (item.settled === null && requestBytes(item.request) <= MAX_SAMPLED_BYTES) sample(item);
    }
    pieces.add(items.length, bytes);
    if (hasRecords && bytes >= maxBytes && bytes < source.bytes) {
      isWhole = false;
      break;
    }
  }
  const share = isWhole || bytes === 0 ? 1 : Math.min(1, bytes / source.bytes);
  return { source, seen, hasRecords, share, pieces: pieces.pieces };
}
