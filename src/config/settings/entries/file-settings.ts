import { z } from 'zod';
import { type WithOrigin, usageError } from '../../usage-error.ts';
import { keyShape } from '../describe.ts';
import { setting, type Setting } from '../setting.ts';
import {
  AS_STREAM,
  AUDIT,
  ENCODING,
  HEADER,
  ID_COLUMN,
  LAYOUT,
  STREAM_CADENCE,
  TEXT_COLUMN,
} from './sources.ts';

/** The settings for reading files that may be given for only some files of a source. */
export const FILE_SETTINGS: readonly Setting[] = [
  ...[TEXT_COLUMN, ID_COLUMN, AUDIT, AS_STREAM, STREAM_CADENCE, ENCODING, LAYOUT, HEADER],
];

const SOURCE_KEY = 'sources[].';

const FILES = z
  .string()
  .min(1)
  .meta({ description: 'A glob of paths below the source; without a slash, of names.' });

export const FOR = setting({
  flag: '--for',
  key: 'sources[].for',
  help: 'settings of sources for the files that match a glob only; if several match, the last counts',
  flagNote: 'holds for the flags behind it, up to the next `--for`',
  keyNote: 'a list of `files`, the glob, with keys of a source; those that are missing are as in the source',
  kind: {
    unit: 'glob',
    isList: true,
    shape: z
      .array(
        z.strictObject({
          files: FILES,
          ...Object.fromEntries(
            FILE_SETTINGS.map((each) => [each.key!.slice(SOURCE_KEY.length), keyShape(each)]),
          ),
        }),
      )
      .min(1),
    parse: (texts) => texts.map(parseGlob),
  },
  unset: 'all files of a source are read alike',
  example: "'*.de.csv'",
});

function parseGlob({ value, place }: WithOrigin<string>): string {
  if (value === '') throw usageError(place, 'the glob is empty');
  return value;
}

/** A setting of a source as typed after `--for`: with a flag that names the glob. */
export function forGlob<T>(glob: string, each: Setting<T>): Setting<T> {
  return { ...each, flag: `--for ${glob} ${each.flag}`, key: null };
}

/** A setting of a source as written in entry `index` of `for` in a job file. */
export function forEntry<T>(index: number, each: Setting<T>): Setting<T> {
  return { ...each, key: each.key!.replace(SOURCE_KEY, `${SOURCE_KEY}for.${index}.`) };
}
