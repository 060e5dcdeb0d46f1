import { usageError } from '../../usage-error.ts';
import { resolveHeadFile } from '../../values/paths.ts';
import { parseRate } from '../../values/quantities.ts';
import { parseOnFinish } from '../../values/webhook.ts';
import { choice, list, path, single, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';

export const HEAD_FILE = setting({
  flag: '--head-file',
  key: 'headFile',
  help: 'append the chain head of each finished pass to this file, which must be outside any run directory',
  keyNote: 'relative to the job file',
  kind: single('file', (text, { folder }) => resolveHeadFile(text, folder)),
  unset: 'none',
  example: '/var/lib/audit/heads.jsonl',
});

export const ON_FINISH = setting({
  flag: '--on-finish',
  key: 'onFinish',
  help: 'run this program, without a shell, or post to this https:// webhook, however the work on the run ends',
  flagNote: 'given again, its arguments',
  keyNote: 'a webhook, a program, or a list of a program and its arguments',
  kind: list<readonly string[]>('program', 'a program or a webhook', (texts, { folder }) =>
    parseOnFinish(texts, folder),
  ),
  unset: 'none',
  example: './note-head.sh',
});

/** Maximum length of a key, in characters. */
const MAX_KEY_LENGTH = 64;

export const CLEAN = setting({
  flag: '--clean',
  help: 'write the rows whose items are all allowed and were judged completely, unchanged, to this file or folder',
  kind: path('path'),
  unset: 'not written',
  example: 'clean.jsonl',
});

export const ANNOTATE = setting({
  flag: '--annotate',
  help: 'write all rows with what the run found added to them, to this file or folder',
  kind: path('path'),
  unset: 'not written',
  example: 'annotated.jsonl',
});

export const EXPORT_LABELS = setting({
  flag: '--labels',
  help: 'write what people decided in the dashboard to this file: .jsonl for replay --labels, .json for Label Studio',
  kind: path('path'),
  unset: 'not written',
  example: 'labels.jsonl',
});

export const EXPORT_CLEAN = setting({
  flag: '--export-clean',
  key: 'export.clean',
  help: 'when the run is finished, write the rows whose items are all allowed to this file or folder, also when a gate trips',
  keyNote: 'relative to the job file; see docs/commands.md',
  kind: path('path'),
  unset: 'not written',
  example: 'clean.jsonl',
});

export const KEEP = setting({
  flag: '--keep',
  key: 'export.keep',
  help: 'rows to keep in the clean file besides those that are allowed: `review`',
  kind: choice('decision', ['review']),
  unset: 'none',
  example: 'review',
});

export const IGNORE_REVIEWS = setting({
  flag: '--ignore-reviews',
  help: 'keep rows in the clean file even if a reviewer blocked them or found a category in them; never restricted ones',
  kind: SWITCH,
  default: 'false',
  shown: 'they are left out',
});

export const ANNOTATE_KEY = setting({
  flag: '--annotate-key',
  help: 'key that is added to the records; in tables, the beginning of the names of the columns',
  kind: single('key', ({ value, place }) => {
    if (new RegExp(`^[A-Za-z_]\\w{0,${MAX_KEY_LENGTH - 1}}$`).test(value)) return value;
    throw usageError(place, 'a key has letters, digits and _, and does not begin with a digit');
  }),
  default: 'moderation',
  example: 'guard_verdict',
});

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
  help: 'write every item whose decision changes to this new file, as JSON Lines',
  kind: path('file'),
  unset: 'not written',
  example: 'changed.jsonl',
});

export const DIFFERENCES_OUT = setting({
  flag: '--out',
  help: 'write every difference between items with equal content to this new file, as JSON Lines',
  kind: path('file'),
  unset: 'not written',
  example: 'differences.jsonl',
});

export const REPORT = setting({
  flag: '--no-report',
  key: 'report',
  help: 'write report.html into the run directory when the run is finished',
  flagHelp: 'do not write report.html into the run directory when the run is finished',
  keyNote: '`false`: none is written',
  kind: SWITCH,
  default: 'true',
  shown: 'a report is written',
});

export const REPORT_OUT = setting({
  flag: '--out',
  help: 'write the report to this new file',
  kind: path('file'),
  unset: '`report.html` in the run directory',
  example: 'report.html',
});
