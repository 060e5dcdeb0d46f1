import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { mistake, quoted, type Located } from '../mistake.ts';
import type { SourceConfig } from '../run-config.ts';
import {
  AUDIT,
  ENCODING,
  HEADER,
  ID_COLUMN,
  LAYOUT,
  SOURCE_PATH,
  TEXT_COLUMN,
} from '../settings/entries/sources.ts';
import { given, valuesOf, type Sources } from '../settings/given.ts';

/** How sources are read: by flags for all of them, in a job file for each. */
const SOURCE_SETTINGS = {
  textColumns: TEXT_COLUMN,
  idColumn: ID_COLUMN,
  audit: AUDIT,
  encoding: ENCODING,
  layout: LAYOUT,
  header: HEADER,
};

/** The sources that arguments name, or else the job file; checked. Failure('usage') names the place of the first mistake. */
export async function sourceConfigs(paths: readonly string[], from: Sources): Promise<SourceConfig[]> {
  const sources: SourceConfig[] = [];
  const { file = null, cwd } = from;
  if (file === null) {
    for (const value of paths) sources.push(await sourceConfig({ value, place: 'argument' }, cwd, from, 0));
  } else {
    for (let item = 0; item < file.sourceCount; item++) {
      const { texts, folder } = given(SOURCE_PATH, from, item)!;
      sources.push(await sourceConfig(texts[0], folder, from, item));
    }
  }
  return sources;
}

async function sourceConfig(
  path: Located<string>,
  folder: string,
  from: Sources,
  item: number,
): Promise<SourceConfig> {
  if (path.value === '') throw mistake(path.place, 'the path is empty');
  const absolute = resolve(folder, path.value);
  await checkPath(absolute, path);
  const settings = await valuesOf(SOURCE_SETTINGS, from, item);
  const columns = given(TEXT_COLUMN, from, item) ?? given(ID_COLUMN, from, item);
  if (settings.layout === 'text' && columns !== null) {
    throw mistake(columns.texts[0].place, 'layout text has no columns to choose from');
  }
  return { path: absolute, given: path.value, ...settings };
}

const GLOB_SIGNS = /[*?[\]{}!()]/;

async function checkPath(absolute: string, given: Located<string>): Promise<void> {
  try {
    await stat(absolute);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EACCES') {
      throw mistake(given.place, `${quoted(given.value)} may not be read by this user`, error);
    }
    // Globs are expanded later.
    if (GLOB_SIGNS.test(given.value)) return;
    throw mistake(given.place, `no such file or folder: ${quoted(given.value)}`, error);
  }
}
