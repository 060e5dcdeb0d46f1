import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isObjectPath } from '../../domain/object-path.ts';
import { checkObjectPath } from '../values/paths.ts';
import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';
import type { FileSettings, Replay, SourceConfig, SourceSettings } from '../run-config.ts';
import { forGlob, FILE_SETTINGS, FOR, forEntry } from '../settings/entries/file-settings.ts';
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
import { given, resolveSetting, type Sources, valueOf } from '../settings/given.ts';
import type { Setting } from '../settings/setting.ts';

/** The argument that stands for stdin. */
export const STDIN = '-';

/**
 * Resolves and checks the sources named by the arguments, or else by the job file. `stdin` is the path of the file into
 * which stdin is read; null if the command does not read it. Failure('usage') names the origin of the first mistake.
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

/** The absolute path of a file, a folder or a glob, or one in object storage. */
async function resolvePath(path: WithOrigin<string>, folder: string): Promise<string> {
  if (path.value === '') throw usageError(path.place, 'the path is empty');
  if (isObjectPath(path.value)) return checkObjectPath(path);
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
  const settings = await sourceSettings({ lookup: OF_SOURCE, own: OF_SOURCE }, from, item);
  const files = await fileSettings(from, item);
  return { path: absolute, given: path.value, ...settings, ...(files.length > 0 && { for: files }) };
}

/** Maps a setting of a source to the setting that holds its value: itself, or the one for some of the files. */
type Lookup = <T>(setting: Setting<T>) => Setting<T>;

const OF_SOURCE: Lookup = (setting) => setting;

/**
 * The settings for files that match globs: those in the job file, then those after flags. Anything they leave open is
 * as for the source. Failure('usage') for a glob without a setting.
 */
async function fileSettings(from: Sources, item: number): Promise<FileSettings[]> {
  const typed = await resolveSetting(FOR, { ...from, file: null });
  const sections = [
    ...globsInFile(from, item).map((glob, index): [WithOrigin<string>, Lookup] => [
      glob,
      (setting) => forEntry(index, setting),
    ]),
    ...[...new Set(typed)].map((glob): [WithOrigin<string>, Lookup] => [
      { value: glob, place: `--for ${glob}` },
      (setting) => forGlob(glob, setting),
    ]),
  ];
  const found: FileSettings[] = [];
  for (const [{ value, place }, lookup] of sections) {
    const isGiven = (setting: Setting): boolean => given(lookup(setting), from, item) !== null;
    if (!FILE_SETTINGS.some(isGiven))
      throw usageError(place, 'names no setting for the files that it matches');
    const ownOr: Lookup = (setting) => (isGiven(setting) ? lookup(setting) : setting);
    found.push({ files: value, ...(await sourceSettings({ lookup: ownOr, own: lookup }, from, item)) });
  }
  return found;
}

/** The globs in `for` of a source in the job file, whose shape has already been checked. */
function globsInFile({ file = null }: Sources, item: number): readonly WithOrigin<string>[] {
  if (file === null) return [];
  const { sources } = file.yaml.data as {
    readonly sources: readonly { readonly for?: readonly { files: string }[] }[];
  };
  return (sources[item]?.for ?? []).map(({ files }, index) => ({
    value: files,
    place: `${file.yaml.at(['sources', item, 'for', index])}: sources[${item}].for[${index}]`,
  }));
}

/** `own` looks up settings that must not contradict each other; those inherited from the source may have no effect. */
async function sourceSettings(
  { lookup, own }: { readonly lookup: Lookup; readonly own: Lookup },
  from: Sources,
  item: number,
): Promise<SourceSettings> {
  const settings = {
    textColumns: await valueOf(lookup(TEXT_COLUMN), from, item),
    idColumn: await valueOf(lookup(ID_COLUMN), from, item),
    audit: await valueOf(lookup(AUDIT), from, item),
    encoding: await valueOf(lookup(ENCODING), from, item),
    layout: await valueOf(lookup(LAYOUT), from, item),
    header: await valueOf(lookup(HEADER), from, item),
  };
  const columns = given(own(TEXT_COLUMN), from, item) ?? given(own(ID_COLUMN), from, item);
  if (settings.layout === 'text' && columns !== null) {
    throw usageError(columns.texts[0].place, 'layout text has no columns to choose from');
  }
  return { ...settings, asStream: await replayOf(lookup, from, item) };
}

/** Maximum characters per chunk of a response that was not recorded in chunks. */
const CHUNK_CHARS = 200;

/** Resolves the replay settings; null without `--as-stream`. Failure('usage') for settings that conflict with it. */
async function replayOf(lookup: Lookup, from: Sources, item: number): Promise<Replay | null> {
  const [asStream, cadence, text, audit] = [
    lookup(AS_STREAM),
    lookup(STREAM_CADENCE),
    lookup(TEXT_COLUMN),
    lookup(AUDIT),
  ];
  if (!(await valueOf(asStream, from, item))) {
    const alone = given(cadence, from, item);
    if (alone !== null) throw usageError(alone.texts[0].place, 'goes with --as-stream (asStream: true) only');
    return null;
  }
  const columns = given(text, from, item);
  if (columns !== null) {
    const why = 'a prompt and its response are found by their names when they are replayed (--as-stream)';
    throw usageError(columns.texts[0].place, `${why}: leave it out`);
  }
  if ((await valueOf(audit, from, item)) === 'every-turn') {
    const why = 'of a conversation the final response is replayed (--as-stream)';
    throw usageError(given(audit, from, item)!.texts[0].place, `${why}: leave it out`);
  }
  return { chunkChars: CHUNK_CHARS, cadenceChunks: await valueOf(cadence, from, item) };
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
