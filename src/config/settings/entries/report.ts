import { path, single, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';
import { parseRate } from '../../values/rate.ts';

export const LABELS = setting({
  flag: '--labels',
  help: 'labels to measure the scores by, as JSON Lines or CSV: `id` or `content_sha256`, `label` (true or false), and optionally `part` and `category`',
  kind: path('file'),
  unset: 'nothing is measured',
  example: 'labels.csv',
});

export const MIN_PRECISION = setting({
  flag: '--min-precision',
  help: 'with --labels, find a threshold with at least this precision, 0 to 1',
  kind: single('share', parseRate),
  unset: 'any',
  example: '0.9',
});

export const MIN_RECALL = setting({
  flag: '--min-recall',
  help: 'with --labels, find a threshold with at least this recall, 0 to 1',
  kind: single('share', parseRate),
  unset: 'any',
  example: '0.8',
});

export const CHANGED_OUT = setting({
  flag: '--out',
  help: 'write every item with another decision to this new file, as JSON Lines',
  kind: path('file'),
  unset: 'not written',
  example: 'changed.jsonl',
});

export const DIFFERENCES_OUT = setting({
  flag: '--out',
  help: 'write every difference between items of equal content to this new file, as JSON Lines',
  kind: path('file'),
  unset: 'not written',
  example: 'differences.jsonl',
});

export const REPORT = setting({
  flag: '--no-report',
  key: 'report',
  help: 'write report.html into the run directory when the run is finished',
  flagNote: 'this flag turns it off',
  keyNote: '`false`: none is written',
  kind: SWITCH,
  default: 'true',
  shown: 'a report is written',
});

export const REPORT_OUT = setting({
  flag: '--out',
  help: 'write the report to this new file',
  kind: path('file'),
  unset: '`report.html` in the run directory; with --share, `shared-report.html` in the current folder',
  example: 'report.html',
});

export const SHARE = setting({
  flag: '--share',
  help: 'write a report that can be shown to others: random tokens for paths, ids and hosts, and no hashes of content',
  kind: SWITCH,
  default: 'false',
  shown: 'with paths and ids',
});
