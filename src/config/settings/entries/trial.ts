import { z } from 'zod';
import { parseShare } from '../../values/share.ts';
import { single, wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';

export const LIMIT = setting({
  flag: '--limit',
  key: 'limit',
  help: 'for a trial: judge the first records only, a whole file being one; the rest is not read',
  kind: wholeNumber('count', 1, 999_999_999),
  unset: 'all records',
  example: '1000',
});

export const SAMPLE = setting({
  flag: '--sample',
  key: 'sample',
  help: 'for a trial: judge a random share of the records, a whole file being one',
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
  help: 'number that chooses the records of `--sample`; the same one chooses the same records again',
  kind: wholeNumber('number', 0, 999_999_999),
  default: '0',
  example: '7',
});
