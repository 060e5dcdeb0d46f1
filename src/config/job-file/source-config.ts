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

/** The argument that stands for stdin. */
export const STDIN = '-';

/**
 * The sources that arguments name, or else the job file; checked. `stdin`: the path of the file that stdin is read into; null if
 * the command does not read it. Failure('usage') names the place of the first mistake.
 */
export async function sourceConfigs(
  paths: readonly string[],
  from: Sources,
  stdin: string | null,
): Promise<SourceConfig[]> {
  const sources: SourceConfig[] = [];
  const { file = null, cwd } = from;
  if (file === null) {
    if (paths.indexOf(STDIN) !== paths.lastIndexOf(STDIN))
      throw usageError('argument', 'stdin (-) is named twice');
    for (const value of paths) {
      const path = { value, place: 'argument' };
      const absolute = value === STDIN ? requireStdin(stdin) : await resolvePath(path, cwd);
      sources.push(await sourceConfig(path, absolute, from, 0));
    }
  } else {
    for (let item = 0; item < file.sourceCount; item++) {
      const { texts, folder } = given(SOURCE_PATH, from, item)!;
      sources.push(await sourceConfig(texts[0], await resolvePath(texts[0], folder), from, item));
    }
  }
  return sources;
}

function requireStdin(stdin: string | null): string {
  if (stdin !== null) return stdin;
  throw usageError('argument', 'only enqueue reads rows from stdin (-): save them in a file');
}

/** The absolute path of a file, a folder or a glob. */
async function resolvePath(path: WithOrigin<string>, folder: string): Promise<string> {
  if (path.value === '') throw usageError(path.place, 'the path is empty');
  const absolute = resolve(folder, path.value);
  await checkPath(absolute, path);
  return absolute;
}

async function sourceConfig(
  path: WithOrigin<string>,
  absolute: string,
  from: Sources,
  item: number,
): Promise<SourceConfig> {
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
