import { type WithOrigin, quoteForMessage, usageError } from '../../usage-error.ts';
import { AUDITS, HEADERS, LAYOUTS } from '../../run-config.ts';
import { anyText, choice, list, single, SWITCH, wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';

function parseColumn({ value, place }: WithOrigin<string>): string {
  if (value === '') throw usageError(place, 'a column name is empty');
  return value;
}

/** Parses a WHATWG encoding label, in lower case. Failure('usage') for one that this Node.js does not support. */
function parseEncoding({ value, place }: WithOrigin<string>): string {
  const label = value.trim().toLowerCase();
  try {
    new TextDecoder(label);
  } catch (error) {
    throw usageError(
      place,
      `${quoteForMessage(value)} is not an encoding; expected a WHATWG label such as windows-1252 or shift_jis`,
      error,
    );
  }
  return label;
}

/** Only for job files: on the command line, sources are arguments. */
export const SOURCE_PATH = setting({
  key: 'sources[].path',
  help: 'file, folder or glob',
  keyNote: 'relative to the job file; a glob also matches names that begin with a dot',
  kind: anyText('path'),
  required: 'a source needs a path',
});

export const TEXT_COLUMN = setting({
  flag: '--text-column',
  key: 'sources[].text',
  help: 'column to judge in tables and records; in a folder, only in files that have it',
  keyNote: 'a list of columns is joined',
  kind: list<readonly string[]>('name', 'the name of a text column', (texts) => texts.map(parseColumn)),
  unset: 'recognised by name',
  example: 'body',
});

export const ID_COLUMN = setting({
  flag: '--id-column',
  key: 'sources[].id',
  help: 'column that holds the id',
  kind: single('name', parseColumn),
  unset: '`id`, `uuid` or `custom_id`, else the row',
  example: 'comment_id',
});

export const AUDIT = setting({
  flag: '--audit',
  key: 'sources[].audit',
  help: 'judge a conversation once as a whole (`final`) or at every turn (`every-turn`)',
  kind: choice('mode', AUDITS),
  default: 'final',
  example: 'every-turn',
});

export const AS_STREAM = setting({
  flag: '--as-stream',
  key: 'sources[].asStream',
  help: 'replay each response as a moderation stream, which shows how early it would have been stopped',
  kind: SWITCH,
  default: 'false',
  shown: 'a response is judged as a whole',
});

export const STREAM_CADENCE = setting({
  flag: '--stream-cadence',
  key: 'sources[].streamCadence',
  help: 'chunks from one verdict of a replayed stream to the next',
  kind: wholeNumber('chunks', 1, 100_000),
  default: '1',
  example: '8',
});

export const ENCODING = setting({
  flag: '--encoding',
  key: 'sources[].encoding',
  help: 'encoding of the sources, a WHATWG label; in a folder, only of files that it fits',
  kind: single('label', parseEncoding),
  unset: 'UTF-8, or UTF-16 by its byte order mark',
  example: 'windows-1252',
});

export const LAYOUT = setting({
  flag: '--layout',
  key: 'sources[].layout',
  help: 'read sources as `csv`, `jsonl`, `json` or `text`',
  kind: choice('layout', LAYOUTS),
  unset: 'recognised by content',
  example: 'csv',
});

export const HEADER = setting({
  flag: '--header',
  key: 'sources[].header',
  help: 'whether the first row of tables names their columns; without names, columns go by position: 1, 2',
  kind: choice('yes|no', HEADERS),
  unset: 'detected from the rows',
  example: 'no',
});
