import { z } from 'zod';
import { parseShare } from '../../values/quantities.ts';
import { single, wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';

export const LIMIT = setting({
  flag: '--limit',
  key: 'limit',
  help: 'trial run: judge only the first records (a media file or text file counts as one)',
  kind: wholeNumber('count', 1, 999_999_999),
  unset: 'all records',
  example: '1000',
});

export const SAMPLE = setting({
  flag: '--sample',
  key: 'sample',
  help: 'trial run: judge a random share of the records (a media file or text file counts as one)',
  kind: single(
    'share',
    parseShare,
    z.union([z.string(), z.number()], { error: 'a share such as 1% or 0.01' }),
  ),
  unset: 'all records',
  example: '1%',
});

export const SEED = setting({
  flag: '--seed',
  key: 'seed',
  help: 'random seed for `--sample`; the same seed selects the same records',
  kind: wholeNumber('number', 0, 999_999_999),
  default: '0',
  example: '7',
});

export const PREFLIGHT_RATE = setting({
  flag: '--rate',
  help: 'items that the guard judges per second',
  kind: wholeNumber('items', 1, 1_000_000),
  unset: 'the speed of the last run with the same guard',
  example: '500',
});
