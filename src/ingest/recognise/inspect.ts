import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { isFields, type ReadRecord } from '../../formats/record.ts';
import { columnKey, type ColumnKey, holdsText } from '../../formats/transcripts/columns.ts';
import { draftSource } from '../../formats/transcripts/around.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { columnLabel, looksLikeName } from './column-label.ts';
import { examine, type Examined, type Refused } from './examine.ts';
import { isAsFrozen } from '../sources/file-bytes.ts';
import { placeOfSource } from '../sources/file-place.ts';
import { encodingOf, idNamesOf, isNamedFile } from '../sources/named-file.ts';
import { OpenSource } from '../sources/open-source.ts';
import type { FrozenSource } from '../plan/plan-line.ts';
import { layoutByName } from './recognise-layout.ts';
import { WantedColumns } from './wanted-columns.ts';

/** What is said of the columns of one file. */
export interface FileColumns {
  readonly path: string;
  /** As they may be shown at the terminal, see columnLabel; the last one may be how many more there are. */
  readonly columns: string[];
}

export interface Inspection {
  /** String columns that are not judged. */
  readonly unjudgedColumns: FileColumns[];
  /** Tables that were found and have no column recognised as their text, with all columns. */
  readonly withoutText: FileColumns[];
  /** Paths of tables whose first row seems to be data. */
  readonly withoutHeader: string[];
}

/** Records of a file that are looked at for what is not judged. */
const SAMPLE_RECORDS = 200;

/** Most files looked at beyond those the user named: the rest of a large folder is most likely alike. */
const FOUND_FILES = 1000;

/** Most names given in a message for the terminal. */
const NAMES_SHOWN = 20;

/**
 * Looks at the first records of the tables among the sources before anything is written. Failure('usage') when a file the user
 * named is mostly not UTF-8, has no column we recognise as its text, or lacks a column that was asked for; for a
 * file that was merely found, the first of these are items when it is read. What is asked of a folder, at least one file
 * in it has to have. `itemBytes`: the largest text item. Gives what nobody judges.
 */
export async function inspectSources(
  sources: readonly FrozenSource[],
  configs: readonly SourceConfig[],
  itemBytes: number,
  signal: AbortSignal,
): Promise<Inspection> {
  const unjudgedColumns: FileColumns[] = [];
  const withoutText: FileColumns[] = [];
  const withoutHeader: string[] = [];
  const wanted = new WantedColumns(configs);
  const others: FrozenSource[] = [];
  let found = 0;
  for (const source of sources) {
    const config = configs[source.corpus]!;
    if (source.manifest === source.source) continue;
    const isNamed = isNamedFile(source, config);
    if (!isNamed && (!isTable(source, config) || ++found > FOUND_FILES)) {
      others.push(source);
      continue;
    }
    const examined = await examineFile(source, config, itemBytes, signal);
    if (examined === null || examined.kind === 'text' || examined.kind === 'media') continue;
    wanted.see(source.corpus, examined.columns);
    if (examined.kind === 'refused') {
      if (isNamed) refuse(examined, config);
      if (examined.why !== 'no-text-column') continue;
      withoutText.push({ path: source.path, columns: labelled(examined.columns) });
      continue;
    }
    if (examined.layout.kind === 'csv' && !examined.layout.header) withoutHeader.push(source.path);
    const columns = unjudged(examined.sample, examined.options, idNamesOf(config, isNamed));
    if (columns.length > 0) unjudgedColumns.push({ path: source.path, columns });
  }
  await lookFurther(others, configs, wanted, itemBytes, signal);
  wanted.refuse();
  return { unjudgedColumns, withoutText, withoutHeader };
}

/** Looks for columns that no table has in files that may be tables under other names. */
async function lookFurther(
  sources: readonly FrozenSource[],
  configs: readonly SourceConfig[],
  wanted: WantedColumns,
  itemBytes: number,
  signal: AbortSignal,
): Promise<void> {
  let looked = 0;
  for (const source of sources) {
    if (!wanted.isOpen(source.corpus)) continue;
    if (++looked > FOUND_FILES) {
      wanted.giveUp();
      return;
    }
    const examined = await examineFile(source, configs[source.corpus]!, itemBytes, signal);
    if (examined !== null && 'columns' in examined) wanted.see(source.corpus, examined.columns);
  }
}

function isTable({ absolute }: FrozenSource, { layout }: SourceConfig): boolean {
  return (layout ?? layoutByName(absolute) ?? 'text') !== 'text';
}

/** Null for a file that cannot be read or has changed, which is an item's matter. */
async function examineFile(
  source: FrozenSource,
  config: SourceConfig,
  itemBytes: number,
  signal: AbortSignal,
): Promise<Examined | null> {
  let file: OpenSource | null = null;
  try {
    file = await OpenSource.open(placeOfSource(source), signal);
    if (!isAsFrozen(file.stats, source)) return null;
    const isNamed = isNamedFile(source, config);
    const head = await file.head(encodingOf(config, isNamed));
    return await examine({ file, head, path: source.absolute, config, isNamed, itemBytes });
  } catch {
    signal.throwIfAborted();
    return null;
  } finally {
    await file?.close();
  }
}

/** Column names are shown to the person at the terminal, who needs them to choose; they are kept nowhere. */
function refuse({ why, columns, missing }: Refused, config: SourceConfig): void {
  const file = JSON.stringify(config.given);
  switch (why) {
    case 'encoding':
      throw new Failure(
        'usage',
        `${file} is mostly not UTF-8; name its encoding, such as --encoding windows-1252`,
      );
    case 'no-text-column':
      throw new Failure(
        'usage',
        `${file} has no column recognised as its text; choose with --text-column among: ${listed(columns)}`,
      );
    case 'no-such-column':
      throw new Failure(
        'usage',
        `${file} has no column ${missing.map((name) => JSON.stringify(name)).join(', ')}; it has: ${listed(columns)}`,
      );
    case 'binary':
    case 'empty':
    case 'no-header':
  }
}

function listed(names: readonly string[]): string {
  return labelled(names).join(', ');
}

/** So many names as are shown, and how many more there are. */
function labelled(names: readonly string[]): string[] {
  const shown = names.slice(0, NAMES_SHOWN).map((name, index) => columnLabel(name, index + 1));
  const more = names.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

function unjudged(
  sample: readonly ReadRecord[],
  options: RecordOptions,
  idNames: readonly string[],
): string[] {
  const labels = new Map<ColumnKey, string>();
  const judged = new Set<ColumnKey>();
  const nested = new Set<string>();
  const around = sample.filter(({ isAround }) => isAround === true);
  for (const record of [...sample.slice(0, SAMPLE_RECORDS), ...around]) {
    const fields = record.content;
    if (!isFields(fields)) {
      draftSource(record, options, (path) => nested.add(nestedLabel(path, null)));
      continue;
    }
    const passed = (path: readonly string[]): void => {
      if (path.length > 1 || fields.nestedNames().includes(path[0]!)) {
        nested.add(nestedLabel(path, fields.names().indexOf(path[0]!) + 1));
      }
    };
    for (const name of [...draftSource(record, options, passed).judged, ...idNames]) {
      const position = fields.positionOf(name);
      if (position !== undefined) judged.add(columnKey(fields, position));
    }
    for (const [position, name] of fields.names().entries()) {
      const key = columnKey(fields, position);
      if (labels.has(key) || !holdsText(fields.at(position))) continue;
      labels.set(key, typeof key === 'string' ? columnLabel(name, position + 1) : `column ${position + 1}`);
    }
  }
  const left = [...[...labels].filter(([key]) => !judged.has(key)).map(([, label]) => label), ...nested];
  const more = left.length - NAMES_SHOWN;
  return more > 0 ? [...left.slice(0, NAMES_SHOWN), `and ${more} more`] : left;
}

/** How the strings under nested names are named; any of the names may be content, as those of columns may. */
function nestedLabel(path: readonly string[], position: number | null): string {
  if (path.every(looksLikeName)) return JSON.stringify(path.join('.'));
  return position === null ? 'inside turns' : `inside column ${position}`;
}
