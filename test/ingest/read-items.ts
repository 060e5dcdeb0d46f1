import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { expandSources } from '../../src/ingest/discover/expand.ts';
import type { Item } from '../../src/domain/item.ts';
import { DEFAULT_LIMITS, type RunConfig, type SourceConfig } from '../../src/config/run-config.ts';
import { inspectSources } from '../../src/ingest/recognise/inspect.ts';
import { SourceSnapshots } from '../../src/ingest/sources/source-snapshots.ts';
import { configOf, type SourceSnapshot } from '../../src/ingest/sources/sources-file.ts';
import { readSource, type ReadOptions } from '../../src/ingest/items/read-source.ts';
import { pngFile } from '../helpers/png.ts';
import { corpusAt } from '../helpers/run-config.ts';

/** A corpus at an absolute path, everything else recognised. */
export const corpus = (path: string, overrides: Partial<SourceConfig> = {}): SourceConfig =>
  corpusAt(path, { given: path, ...overrides });

export const NEVER = new AbortController().signal;

/** The smallest file that is taken for a JPEG. */
export const JPEG = Buffer.from('ffd8ffc0000b080001000101011100ffda0008010100003f0000ffd9', 'hex');

/** A file that is taken for a PNG, and is none. */
export const PNG = pngFile({ width: 1, height: 1, depth: 8, colourType: 2 }, Buffer.from('not looked at'));

/** The inspection of the corpora, with the unjudged columns of tables that have a text, and of those that have none. */
export async function inspect(configs: readonly SourceConfig[], signal = NEVER) {
  const { sources } = await expandSources(configs, NEVER);
  const inspection = await inspectSources(sources, configs, DEFAULT_LIMITS.itemBytes, signal);
  const unjudged = (isWithout: boolean) =>
    inspection.tables
      .filter(({ chosen_by, not_judged }) => (chosen_by === 'nothing') === isWithout && not_judged.length > 0)
      .map(({ path, not_judged: columns }) => ({ path, columns }));
  return { ...inspection, unjudgedColumns: unjudged(false), withoutText: unjudged(true) };
}

type Limits = Partial<RunConfig['limits']>;

/** All items of the corpora, in order. */
export async function readItems(configs: readonly SourceConfig[], limits: Limits = {}): Promise<Item[]> {
  const { sources } = await expandSources(configs, NEVER);
  return itemsOf(sources, configs, limits);
}

/** All items of sources that were listed before, in order. */
export async function itemsOf(
  sources: readonly SourceSnapshot[],
  configs: readonly SourceConfig[],
  limits: Limits & Partial<ReadOptions> = {},
): Promise<Item[]> {
  const items: Item[] = [];
  const snapshots = new SourceSnapshots(sources, configs);
  for (const source of sources) {
    const options = { ...DEFAULT_LIMITS, ...limits, snapshots, signal: NEVER };
    for await (const some of readSource(source, configOf(source, configs), items.length, options)) {
      for (const item of some) items.push(item);
    }
  }
  return items;
}

/** A corpus as it is listed now: its configuration and its sources. */
export async function listed(path: string, overrides: Partial<SourceConfig> = {}) {
  const configs = [corpus(path, overrides)];
  const { sources } = await expandSources(configs, NEVER);
  return { configs, sources, snapshots: new SourceSnapshots(sources, configs) };
}

/** What is asked about an item: its text, else of what kind it is; or the code of its error. */
export function asked({ request, settled }: Item): string {
  if (request === null) return settled.error?.code ?? 'reused';
  if ('text' in request) return request.text;
  return request.modality === 'text' ? request.requestType : request.modality;
}

/** The code that an item was settled with, or `ok`. */
export const codeOf = ({ settled }: Item): string => settled?.error?.code ?? 'ok';

/** A folder that is made before each test and removed after it. */
export function testFolder() {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'guardsweep-ingest-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const at = (...names: string[]): string => join(root, ...names);
  /** Writes a file, with the folders above it, and returns its path. */
  const write = (name: string, content: string | Buffer): string => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
    return at(name);
  };
  /** Writes `a.jsonl` with these records, and returns its path. */
  const jsonl = (...records: unknown[]): string =>
    write('a.jsonl', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return { at, write, jsonl };
}

/**
 * Cases of a table: the name after `#`, a record as JSON, and what is expected of each of its items after `=`.
 * `LONG_BASE64` in a record stands for encoded data.
 */
export function parseCases(table: string): [name: string, record: unknown, expected: string[]][] {
  const cases = table.split(/^# /m).slice(1);
  return cases.map((text) => {
    const [head, ...expected] = text.trim().split(/\n= /);
    const [name, ...json] = head!.split('\n');
    return [name!, JSON.parse(json.join(' ').replaceAll('LONG_BASE64', 'QUJD'.repeat(100))), expected];
  });
}
