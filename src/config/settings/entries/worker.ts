import { LANES } from '../../../domain/item.ts';
import { parseCorpusRoots } from '../../values/corpus-root.ts';
import { MAX_LOCK, MIN_LOCK } from '../../values/lock.ts';
import { choices, duration, list, wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';

const MAX_CONCURRENCY = 256;

export const WORKER_LANES = setting({
  flag: '--lanes',
  help: `kinds of items to take, separated by commas: ${LANES.join(', ')}`,
  kind: choices('list', LANES),
  unset: 'text,chat; with --root all',
  example: 'text',
});

export const CORPUS_ROOT = setting({
  flag: '--root',
  help: 'folder of a corpus with images or audio on this machine, by the name of the corpus; default name: that of the folder',
  kind: list('name=folder', 'a folder', (texts, { cwd }) => parseCorpusRoots(texts, cwd)),
  unset: 'none: media are left to others',
  example: 'uploads=/mnt/uploads',
});

export const CONCURRENCY = setting({
  flag: '--concurrency',
  help: `shards of one lane judged at a time, 1 to ${MAX_CONCURRENCY}`,
  kind: wholeNumber('shards', 1, MAX_CONCURRENCY),
  default: '32',
  example: '64',
});

export const LOCK = setting({
  flag: '--lock',
  help: `time without a heartbeat after which other workers take over its shards, ${MIN_LOCK} to ${MAX_LOCK}`,
  kind: duration({ min: MIN_LOCK, max: MAX_LOCK }),
  default: '30s',
  example: '60s',
});
