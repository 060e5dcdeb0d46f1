import { choice, path, single, SWITCH } from '../kinds.ts';
import { mistake } from '../../mistake.ts';
import { setting } from '../setting.ts';

/** Longest key, in characters. */
const MAX_KEY_LENGTH = 64;

export const CLEAN = setting({
  flag: '--clean',
  help: 'write the rows whose items are all allowed and were judged as a whole, as they are, to this file or folder',
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
  keyNote: 'relative to the job file; see docs/export.md',
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
  help: 'keep rows in the clean file although a person blocked them or found a category in them; never restricted ones',
  kind: SWITCH,
  default: 'false',
  shown: 'they are left out',
});

export const ANNOTATE_KEY = setting({
  flag: '--annotate-key',
  help: 'key that is added to the records; in tables, the beginning of the names of the columns',
  kind: single('key', ({ value, place }) => {
    if (new RegExp(`^[A-Za-z_]\\w{0,${MAX_KEY_LENGTH - 1}}$`).test(value)) return value;
    throw mistake(place, 'a key has letters, digits and _, and does not begin with a digit');
  }),
  default: 'moderation',
  example: 'guard_verdict',
});
