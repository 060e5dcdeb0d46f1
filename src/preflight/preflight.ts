import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileSettings, RunConfig } from '../config/run-config.ts';
import { type Lane, LANES, chooseLane } from '../domain/item.ts';
import type { ItemCode } from '../domain/item-error.ts';
import { expandSources } from '../ingest/discover/expand.ts';
import { readSource } from '../ingest/items/read-source.ts';
import { configOf, type SourceSnapshot } from '../ingest/sources/sources-file.ts';
import { listColumns, examineFile, inspectSources } from '../ingest/recognise/inspect.ts';
import { SourceSnapshots } from '../ingest/sources/source-snapshots.ts';
import { finishedSummary } from '../record/summary/finished-summary.ts';

/** Maximum number of files to read per source; the others are assumed to be similar. */
const MAX_FILES = 1000;
/** The largest files of a source are always read: one large table can outweigh thousands of small files. */
const LARGEST_FILES = 50;
/** Maximum bytes to read per table, as stored; the rest is assumed to be like its beginning. */
const MAX_TABLE_BYTES = 8 * 1024 * 1024;
/** Maximum tables to list with their columns, one per set of columns. */
const MAX_TABLES = 20;
/** Maximum runs to search for the speed of a guard, the latest first. */
const MAX_RUNS = 20;

/** Mean size of an outcome line in verdicts.jsonl, in bytes. */
const LINE_BYTES = 733;
/** Size of verdicts.csv and verdicts.parquet relative to verdicts.jsonl. */
const TABLES_SHARE = 0.4;
/** Plan and commit lines of a shard, in bytes. */
const SHARD_BYTES = 610;
/** Bytes of a file's lines in sources.jsonl and source-hashes.jsonl. */
const SOURCE_BYTES = 600;

/** Columns of a table. */
interface TableColumns {
  readonly path: string;
  readonly judged: readonly string[];
  readonly not_judged: readonly string[];
}

/** Numbers of items. */
interface ItemCounts {
  /** Items to judge, by lane. */
  readonly to_judge: Readonly<Record<Lane, number>>;
  /** Items that end as errors without asking a guard, by code. */
  readonly not_judged: Readonly<Partial<Record<ItemCode, number>>>;
}

/** The content of one source of a run. */
export interface SourceForecast extends ItemCounts {
  /** The path that the user gave. */
  readonly source: string;
  readonly files: number;
  readonly bytes: number;
  /** Whether the numbers are extrapolated from a part of the source. */
  readonly estimated: boolean;
  /** Number of files read, by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly tables: readonly TableColumns[];
  /** Settings for the files that match a glob, with the number of files they apply to. */
  readonly for: readonly (FileSettings & { readonly matched: number })[];
}

/** The result of `preflight`. */
export interface Forecast {
  readonly schema: 1;
  readonly sources: readonly SourceForecast[];
  /** Skipped files, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Globs whose settings apply to no file. */
  readonly unused_globs: readonly string[];
  readonly items: number;
  /** Each takes at least one guard request; long texts, clips and animations take several. */
  readonly to_judge: number;
  /** Null if no speed is known. */
  readonly time: {
    readonly seconds: number;
    readonly items_per_second: number;
    /** The run whose speed was used; null for `--rate`. */
    readonly run: string | null;
  } | null;
  /** Size of the finished run directory. */
  readonly disk_bytes: number;
}

/**
 * Reads the sources of a run, or parts of large ones, and forecasts the run. Calls no guard and writes nothing. `rate`
 * is in items per second; null takes the speed of the last run in the output folder that was judged by the same guards.
 * Rejects with Failure `usage` for sources that a run would refuse.
 */
export async function preflight(
  config: RunConfig,
  { rate, signal }: { readonly rate: number | null; readonly signal: AbortSignal },
): Promise<Forecast> {
  const { sources, skipped, unusedGlobs } = await expandSources(config.sources, signal);
  await inspectSources(sources, config.sources, config.limits.itemBytes, signal);
  const snapshots = new SourceSnapshots(sources, config.sources);
  const forecasts: SourceForecast[] = [];
  for (const [index, { given, for: all = [] }] of config.sources.entries()) {
    const files = sources.filter(({ corpus }) => corpus === index);
    const settings = all.map((each, at) => {
      return { ...each, matched: files.filter((file) => file.settings === at).length };
    });
    forecasts.push({ source: given, ...(await readFiles(files, config, snapshots, signal)), for: settings });
  }
  const toJudge = sum(forecasts.flatMap(({ to_judge }) => Object.values(to_judge)));
  const items = toJudge + sum(forecasts.flatMap(({ not_judged }) => Object.values(not_judged)));
  const speed = rate === null ? await lastSpeed(config) : { items_per_second: rate, run: null };
  const tables = config.output.formats.includes('csv') ? TABLES_SHARE : TABLES_SHARE / 2;
  const shards = Math.ceil(items / config.limits.shardItems);
  return {
    schema: 1,
    sources: forecasts,
    skipped,
    unused_globs: unusedGlobs,
    items,
    to_judge: toJudge,
    time: speed && { seconds: toJudge / speed.items_per_second, ...speed },
    // The log and verdicts.jsonl hold the same lines.
    disk_bytes: Math.round(
      items * LINE_BYTES * (2 + tables) + shards * SHARD_BYTES + sources.length * SOURCE_BYTES,
    ),
  };
}

/** Selects the largest files, and others at even distances, each with the number of files that it represents. */
function chooseFiles(files: readonly SourceSnapshot[]): { source: SourceSnapshot; weight: number }[] {
  if (files.length <= MAX_FILES) return files.map((source) => ({ source, weight: 1 }));
  const bySize = files.toSorted((a, b) => b.bytes - a.bytes);
  const largest = bySize.slice(0, LARGEST_FILES);
  const others = bySize.slice(LARGEST_FILES);
  const weight = others.length / (MAX_FILES - LARGEST_FILES);
  return [
    ...largest.map((source) => ({ source, weight: 1 })),
    ...Array.from({ length: MAX_FILES - LARGEST_FILES }, (_, at) => ({
      source: others[Math.floor(at * weight)]!,
      weight,
    })),
  ];
}

async function readFiles(
  files: readonly SourceSnapshot[],
  config: RunConfig,
  snapshots: SourceSnapshots,
  signal: AbortSignal,
): Promise<Omit<SourceForecast, 'source' | 'for'>> {
  const toJudge = new Map<Lane, number>(LANES.map((lane) => [lane, 0]));
  const notJudged = new Map<ItemCode, number>();
  const kinds: Record<string, number> = {};
  const tables = new Map<string, TableColumns>();
  let estimated = files.length > MAX_FILES;
  for (const { source, weight } of chooseFiles(files)) {
    const { kind, table } = await recognise(source, config, signal);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    const key = table && JSON.stringify([table.judged, table.not_judged]);
    if (key !== null && tables.size < MAX_TABLES && !tables.has(key)) tables.set(key, table!);
    if (kind === 'image' || kind === 'audio') {
      toJudge.set(kind, toJudge.get(kind)! + weight);
      continue;
    }
    const found = await countItems(source, config, snapshots, signal);
    estimated ||= found.scale > 1;
    const factor = found.scale * weight;
    for (const [lane, count] of found.toJudge) toJudge.set(lane, toJudge.get(lane)! + count * factor);
    for (const [code, count] of found.notJudged) {
      notJudged.set(code, (notJudged.get(code) ?? 0) + count * factor);
    }
  }
  return {
    files: files.length,
    bytes: sum(files.map(({ bytes }) => bytes)),
    estimated,
    kinds,
    tables: [...tables.values()],
    to_judge: roundCounts(toJudge) as Record<Lane, number>,
    not_judged: roundCounts(notJudged),
  };
}

async function recognise(
  source: SourceSnapshot,
  config: RunConfig,
  signal: AbortSignal,
): Promise<{ kind: string; table: TableColumns | null }> {
  if (source.manifest === source.source) return { kind: 'manifest', table: null };
  const corpus = configOf(source, config.sources);
  const examined = await examineFile(source, corpus, config.limits.itemBytes, signal);
  switch (examined?.kind) {
    case undefined:
      return { kind: 'unreadable', table: null };
    case 'text':
      return { kind: 'text', table: null };
    case 'container':
      return { kind: examined.container, table: null };
    case 'media':
      return { kind: examined.modality, table: null };
    case 'refused':
      return { kind: `refused (${examined.error.code})`, table: null };
    case 'records': {
      const { judged, unjudged } = listColumns(examined, source, corpus);
      return { kind: examined.layout.kind, table: { path: source.path, judged, not_judged: unjudged } };
    }
  }
}

/**
 * Counts the items of a file. Only the beginning of a large table is read; `scale` is the size of the file relative to
 * that.
 */
async function countItems(
  source: SourceSnapshot,
  config: RunConfig,
  snapshots: SourceSnapshots,
  signal: AbortSignal,
) {
  const toJudge = new Map<Lane, number>();
  const notJudged = new Map<ItemCode, number>();
  const { itemBytes, mediaBytes, unpack } = config.limits;
  let bytes = 0;
  const onBytes = (soFar: number): void => void (bytes = soFar);
  const options = { snapshots, itemBytes, mediaBytes, unpack, signal, onBytes };
  let scale = 1;
  for await (const items of readSource(source, configOf(source, config.sources), 0, options)) {
    for (const item of items) {
      const code = item.settled?.error?.code;
      if (code === undefined) toJudge.set(chooseLane(item), (toJudge.get(chooseLane(item)) ?? 0) + 1);
      else notJudged.set(code, (notJudged.get(code) ?? 0) + 1);
    }
    if (items.at(-1)?.source.row != null && bytes >= MAX_TABLE_BYTES && bytes < source.bytes) {
      scale = source.bytes / bytes;
      break;
    }
  }
  return { toJudge, notJudged, scale };
}

/** Speed of the last run in the output folder with the same guards; null if there is none. */
async function lastSpeed(
  config: RunConfig,
): Promise<{ readonly items_per_second: number; readonly run: string } | null> {
  const names = await readdir(config.output.dir).catch(() => []);
  for (const name of names.sort().reverse().slice(0, MAX_RUNS)) {
    const summary = await finishedSummary(join(config.output.dir, name));
    if (summary === null || summary.seconds <= 0) continue;
    const judged = sum(summary.guards.map(({ verdicts }) => verdicts)) - summary.reused;
    const endpoints = summary.guards.map(({ endpoint }) => endpoint);
    if (judged <= 0 || !endpoints.some((endpoint) => config.guards.includes(endpoint))) continue;
    return { items_per_second: judged / summary.seconds, run: summary.run };
  }
  return null;
}

function roundCounts(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].map(([key, count]) => [key, Math.round(count)]));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
