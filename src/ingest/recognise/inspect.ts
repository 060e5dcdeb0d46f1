import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import type { JudgedColumns, OtherEncoding } from '../../config/judged-columns.ts';
import { columnLabel, isFields, looksLikeName } from '../../formats/record.ts';
import { columnKey, type ColumnKey, holdsText } from '../../formats/transcripts/columns.ts';
import { draftRecord } from '../../formats/transcripts/draft-record.ts';
import { examine, type Examination, type Refusal } from './examine.ts';
import { locateSource } from '../sources/file-place.ts';
import { configuredEncoding, idColumnNames, isNamedFile, WantedColumns } from './source-options.ts';
import { OpenSource } from '../sources/open-source.ts';
import { configOf, type SourceSnapshot } from '../sources/sources-file.ts';
import { layoutByName } from './recognise-layout.ts';

export interface Inspection {
  /** Judged and unjudged columns of each table, at most `MAX_TABLES` kinds. */
  readonly tables: readonly JudgedColumns[];
  /** Paths of tables whose first row was detected as data. */
  readonly withoutHeader: readonly string[];
  /** Paths of tables whose header and rows have different numbers of cells. */
  readonly fittedHeaders: readonly string[];
  /** Files, not named by the user, that are not UTF-8. */
  readonly otherEncodings: readonly OtherEncoding[];
}

/** Max records per file to search for unjudged text. */
const MAX_RECORDS = 200;

/**
 * Max files to inspect besides those the user named: the rest of a large folder is most likely similar. For plain text
 * files, only the encoding matters.
 */
const MAX_FOUND = { table: 1000, text: 200 };

/** Max kinds of tables to record, and columns of each. */
const MAX_TABLES = 1000;
const MAX_RECORDED = 200;

/** Max names in a message for the terminal. */
const MAX_NAMES = 20;

/**
 * Inspects the first records of the tables among the sources before anything is written. Failure('usage') if a named
 * file is mostly not UTF-8, has no column detected as text, or lacks a column that the user asked for. For files found
 * in a folder or by a glob, the first two are item errors when they are read, and at least one file must have each
 * requested column. `itemBytes` is the max size of a text item. Returns what is not judged.
 */
export async function inspectSources(
  sources: readonly SourceSnapshot[],
  configs: readonly SourceConfig[],
  itemBytes: number,
  signal: AbortSignal,
): Promise<Inspection> {
  const withoutHeader: string[] = [];
  const fittedHeaders: string[] = [];
  const encodings = new Map<string | null, string[]>();
  const tables = new Map<string, JudgedColumns>();
  const add = (path: string, columns: Omit<JudgedColumns, 'path' | 'files'>): void => {
    const key = JSON.stringify(columns);
    const known = tables.get(key);
    if (known !== undefined) tables.set(key, { ...known, files: known.files + 1 });
    else if (tables.size < MAX_TABLES) tables.set(key, { path, files: 1, ...columns });
  };
  const wanted = new WantedColumns(sources, configs);
  const note = (source: SourceSnapshot, config: SourceConfig, examined: Examination | null): void => {
    if (examined?.kind !== 'records' && examined?.kind !== 'refused') return;
    wanted.see(config, examined.columns);
    const { path } = source;
    if (examined.kind === 'refused') return;
    if (examined.chosenBy === 'nothing') {
      add(path, { judged: [], chosen_by: 'nothing', not_judged: toLabels(examined.columns, MAX_RECORDED) });
      return;
    }
    if (examined.layout.kind === 'csv') {
      const { header, width } = examined.layout;
      if (!header) withoutHeader.push(path);
      else if (width !== null) fittedHeaders.push(path);
    }
    const { judged, unjudged } = listColumns(examined, source, config);
    add(path, { judged, chosen_by: examined.chosenBy, not_judged: unjudged });
  };
  const others: SourceSnapshot[] = [];
  const found = { table: 0, text: 0 };
  for (const source of sources) {
    const config = configOf(source, configs);
    if (source.manifest === source.source) {
      const examined = await examineFile(source, config, itemBytes, signal);
      const others = examined?.kind === 'records' ? unusedColumns(examined, source, config) : [];
      if (others.length > 0) add(source.path, { judged: [], chosen_by: 'name', not_judged: others });
      continue;
    }
    const isNamed = isNamedFile(source, config);
    const kind = kindByName(source, config);
    if (!isNamed && (kind === null || ++found[kind] > MAX_FOUND[kind])) {
      others.push(source);
      continue;
    }
    const examined = await examineFile(source, config, itemBytes, signal);
    if (isNamed && examined?.kind === 'refused') refuse(examined, config);
    if (isNamed && examined?.kind === 'records' && examined.chosenBy === 'nothing') {
      throw new Failure(
        'usage',
        `${JSON.stringify(config.given)} has no column recognised as its text; choose with --text-column among: ${joinLabels(examined.columns)}`,
      );
    }
    if (examined?.kind === 'refused' && examined.why === 'encoding') {
      const { encoding } = examined;
      encodings.set(encoding, [...(encodings.get(encoding) ?? []), source.path]);
      continue;
    }
    note(source, config, examined);
  }
  // Files that may be tables despite their names.
  let inspected = 0;
  for (const source of others) {
    const config = configOf(source, configs);
    if (!wanted.isMissing(config)) continue;
    if (++inspected > MAX_FOUND.table) {
      wanted.giveUp();
      break;
    }
    note(source, config, await examineFile(source, config, itemBytes, signal));
  }
  wanted.requireAll();
  const otherEncodings = [...encodings].map(([encoding, paths]) => ({ encoding, paths }));
  return { tables: [...tables.values()], withoutHeader, fittedHeaders, otherEncodings };
}

/** Kind of a found file by its name or its configuration; null for other kinds. */
function kindByName({ absolute }: SourceSnapshot, { layout }: SourceConfig): keyof typeof MAX_FOUND | null {
  if (absolute.toLowerCase().endsWith('.parquet')) return 'table';
  const name = layout ?? layoutByName(absolute);
  return name === null || name === 'text' ? name : 'table';
}

/** Examines a file; null if it cannot be read or has changed: its item reports the error. */
export async function examineFile(
  source: SourceSnapshot,
  config: SourceConfig,
  itemBytes: number,
  signal: AbortSignal,
): Promise<Examination | null> {
  let file: OpenSource | null = null;
  try {
    file = await OpenSource.open(locateSource(source), signal);
    if (!file.matchesSnapshot(source)) return null;
    const isNamed = isNamedFile(source, config);
    const head = await file.head(configuredEncoding(config, isNamed));
    return await examine({ file, head, path: source.absolute, config, isNamed, itemBytes, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    return null;
  } finally {
    await file?.close();
  }
}

/** Column names are printed so that the user can choose among them; they are never stored. */
function refuse({ why, columns, missing, encoding }: Refusal, config: SourceConfig): void {
  const file = JSON.stringify(config.given);
  switch (why) {
    case 'encoding':
      throw new Failure(
        'usage',
        `${file} is mostly not UTF-8; name its encoding, ${encoding === null ? 'such as' : 'most likely'} --encoding ${encoding ?? 'windows-1252'}`,
      );
    case 'no-such-column':
      throw new Failure(
        'usage',
        `${file} has no column ${missing.map((name) => JSON.stringify(name)).join(', ')}; it has: ${joinLabels(columns)}`,
      );
    case 'binary':
    case 'empty':
    case 'no-header':
  }
}

function joinLabels(names: readonly string[]): string {
  return toLabels(names, MAX_NAMES).join(', ');
}

/** Labels of up to `max` columns, and the number of further ones. */
function toLabels(names: readonly string[], max: number): string[] {
  const labels = names.map((name, index) => columnLabel(name, index + 1));
  return limitLabels(labels, max);
}

/** Printable labels of the columns with strings in a sample: judged columns, and unjudged columns except ids. */
export function listColumns(
  { sample, options }: Extract<Examination, { readonly kind: 'records' }>,
  source: SourceSnapshot,
  config: SourceConfig,
): { readonly judged: string[]; readonly unjudged: string[] } {
  const idNames = idColumnNames(config, isNamedFile(source, config));
  const labels = new Map<ColumnKey, string>();
  const judged = new Set<ColumnKey>();
  const ids = new Set<ColumnKey>();
  const nested = new Set<string>();
  const around = sample.filter(({ isWrapper: isAround }) => isAround === true);
  for (const record of [...sample.slice(0, MAX_RECORDS), ...around]) {
    const fields = record.content;
    if (!isFields(fields)) {
      draftRecord(record, options, (path) => nested.add(nestedLabel(path, null)));
      continue;
    }
    const passed = (path: readonly string[]): void => {
      if (path.length > 1 || fields.nestedNames().includes(path[0]!)) {
        nested.add(nestedLabel(path, fields.names().indexOf(path[0]!) + 1));
      }
    };
    const keep = (names: Iterable<string>, keys: Set<ColumnKey>): void => {
      for (const name of names) {
        const position = fields.positionOf(name);
        if (position !== undefined) keys.add(columnKey(fields, position));
      }
    };
    keep(draftRecord(record, options, passed).judged, judged);
    keep(idNames, ids);
    for (const [position, name] of fields.names().entries()) {
      const key = columnKey(fields, position);
      if (labels.has(key) || !(judged.has(key) || holdsText(fields.at(position)))) continue;
      labels.set(key, typeof key === 'string' ? columnLabel(name, position + 1) : `column ${position + 1}`);
    }
  }
  const labelsOf = (wanted: (key: ColumnKey) => boolean): string[] =>
    [...labels].filter(([key]) => wanted(key)).map(([, label]) => label);
  return {
    judged: limitLabels(
      labelsOf((key) => judged.has(key)),
      MAX_RECORDED,
    ),
    unjudged: limitLabels([...labelsOf((key) => !judged.has(key) && !ids.has(key)), ...nested], MAX_RECORDED),
  };
}

/** Columns of a manifest with strings that describe no file. */
function unusedColumns(...table: Parameters<typeof listColumns>): string[] {
  const { judged, unjudged } = listColumns(...table);
  return [...judged, ...unjudged].filter((label) => !/^"(?:path|id|caption)"$/i.test(label));
}

function limitLabels(labels: readonly string[], max: number): string[] {
  const more = labels.length - max;
  return more > 0 ? [...labels.slice(0, max), `and ${more} more`] : [...labels];
}

/** Label of the strings at a nested path. Like column names, the names in the path may be content. */
function nestedLabel(path: readonly string[], position: number | null): string {
  if (path.every(looksLikeName)) return JSON.stringify(path.join('.'));
  return position === null ? 'inside turns' : `inside column ${position}`;
}
