import { resolve } from 'node:path';
import { z } from 'zod';
import { oneOf } from '../../usage-error.ts';
import { OUTPUT_FORMATS, type CsvSeparator } from '../../run-config.ts';
import { parseOutputFolder } from '../../values/paths.ts';
import { parseRunName } from '../../values/run-name.ts';
import { choices, list, path, single, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';

const SEPARATOR_NAMES = [',', ';', 'tab'] as const;
const SEPARATORS: Readonly<Record<(typeof SEPARATOR_NAMES)[number], CsvSeparator>> = {
  ',': ',',
  ';': ';',
  tab: '\t',
};

/** Relative to the current folder. */
export const DEFAULT_RUNS_FOLDER = 'runs';

export const NAME = setting({
  flag: '--name',
  key: 'name',
  help: 'name of the run: lower-case letters, digits, hyphens',
  kind: single('name', parseRunName),
  unset: 'after the job file or the first path',
  example: 'nightly-rescan',
});

export const OUT = setting({
  flag: '--out',
  key: 'output.dir',
  help: 'folder in which the run directory is created',
  keyNote: 'relative to the job file; the default is relative to the current folder',
  kind: single('dir', (text, { folder }) => parseOutputFolder(text, folder)),
  default: DEFAULT_RUNS_FOLDER,
  example: '/data/runs',
});

export const FORMAT = setting({
  flag: '--format',
  key: 'output.formats',
  help: 'tables besides `verdicts.jsonl` and `verdicts.parquet`, which are always written: `jsonl`, `csv`, `parquet`',
  flagNote: 'separated by commas',
  kind: choices('list', OUTPUT_FORMATS),
  default: 'jsonl,csv',
  example: 'jsonl',
});

export const CSV_SEPARATOR = setting({
  flag: '--csv-separator',
  key: 'output.csvSeparator',
  help: 'separator of `verdicts.csv`, `flagged.csv`, `restricted.csv` and `not-judged.csv`: `,`, `;`, `tab`',
  kind: single('separator', (text) => SEPARATORS[oneOf(SEPARATOR_NAMES, text)], z.enum(SEPARATOR_NAMES)),
  default: ',',
  example: "';'",
});

export const INCLUDE_CONTENT = setting({
  flag: '--include-content',
  key: 'output.includeContent',
  help: 'keep up to 300 characters of each item to review or block in the record, except restricted ones',
  kind: SWITCH,
  default: 'false',
  shown: 'the record holds no content',
});

/** The folder of the runs, for commands that only read them. */
export const RUNS_FOLDER = setting({
  flag: '--out',
  help: 'folder of the runs',
  kind: path('dir'),
  default: DEFAULT_RUNS_FOLDER,
  example: '/data/runs',
});

/** The folder to which a sink may write. */
export const RUNS_ROOT = setting({
  flag: '--root',
  help: 'folder with run directories; nothing outside it is written',
  kind: list('dir', 'a folder', (texts, { folder }) => texts.map(({ value }) => resolve(folder, value))),
  default: DEFAULT_RUNS_FOLDER,
  example: '/data/runs',
});

/** The folder to which `normalize` writes. */
export const NORMAL_FORMS_FOLDER = setting({
  flag: '--out',
  help: 'folder to write to; created if missing',
  kind: path('dir'),
  required: 'name a folder to write in with --out',
  example: 'normal',
});
