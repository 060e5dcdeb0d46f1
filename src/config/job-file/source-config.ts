import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';
import type { Replay, SourceConfig } from '../run-config.ts';
import {
  AS_STREAM,
  AUDIT,
  ENCODING,
  HEADER,
  ID_COLUMN,
  LAYOUT,
  STREAM_CADENCE,
  SOURCE_PATH,
  TEXT_COLUMN,
} from '../settings/entries/sources.ts';
import { given, type Sources, valueOf, resolveSettings } from '../settings/given.ts';

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
  path: WithOrigin<string>,
  folder: string,
  from: Sources,
  item: number,
): Promise<SourceConfig> {
  if (path.value === '') throw usageError(path.place, 'the path is empty');
  const absolute = resolve(folder, path.value);
  await checkPath(absolute, path);
  const settings = await resolveSettings(SOURCE_SETTINGS, from, item);
  const columns = given(TEXT_COLUMN, from, item) ?? given(ID_COLUMN, from, item);
  if (settings.layout === 'text' && columns !== null) {
    throw usageError(columns.texts[0].place, 'layout text has no columns to choose from');
  }
  return { path: absolute, given: path.value, ...settings, asStream: await replayOf(from, item) };
}

/** Maximum characters per chunk of a response that was not recorded in chunks. */
const CHUNK_CHARS = 200;

/** Null without `--as-stream`. Failure('usage') for settings that conflict with it. */
async function replayOf(from: Sources, item: number): Promise<Replay | null> {
  const asStream = await valueOf(AS_STREAM, from, item);
  if (!asStream) {
    const alone = given(STREAM_CADENCE, from, item);
    if (alone !== null) throw usageError(alone.texts[0].place, 'goes with --as-stream (asStream: true) only');
    return null;
  }
  const columns = given(TEXT_COLUMN, from, item);
  if (columns !== null) {
    const why = 'a prompt and its response are found by their names when they are replayed (--as-stream)';
    throw usageError(columns.texts[0].place, `${why}: leave it out`);
  }
  if ((await valueOf(AUDIT, from, item)) === 'every-turn') {
    const why = 'of a conversation the final response is replayed (--as-stream)';
    throw usageError(given(AUDIT, from, item)!.texts[0].place, `${why}: leave it out`);
  }
  return { chunkChars: CHUNK_CHARS, cadenceChunks: await valueOf(STREAM_CADENCE, from, item) };
}

const GLOB_SIGNS = /[*?[\]{}!()]/;

async function checkPath(absolute: string, given: WithOrigin<string>): Promise<void> {
  try {
    await stat(absolute);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EACCES') {
      throw usageError(given.place, `${quoteForMessage(given.value)} may not be read by this user`, error);
    }
    // Globs are expanded later.
    if (GLOB_SIGNS.test(given.value)) return;
    throw usageError(given.place, `no such file or folder: ${quoteForMessage(given.value)}`, error);
  }
}
