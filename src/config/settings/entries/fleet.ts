import { LANES } from '../../../domain/item.ts';
import { PRIORITIES } from '../../run-config.ts';
import { parseCorpusRoots } from '../../values/paths.ts';
import { MAX_LOCK, MIN_LOCK } from '../../values/quantities.ts';
import { parseRedisUrl } from '../../values/redis-url.ts';
import { choice, choices, duration, list, single, wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';
import { REDIS_URL } from './environment.ts';

const redis = {
  flag: '--redis',
  variable: REDIS_URL,
  help: "the fleet's Redis: `redis://`, `rediss://` (TLS) or `unix:///path`; passwords are better in REDIS_URL",
  kind: single('url', (text, { env }) => parseRedisUrl(text, env)),
  example: 'redis://queue-1:6379',
} as const;

export const REDIS = setting({ ...redis, unset: 'none' });

/** The Redis of a process that is part of a fleet. */
export const FLEET_REDIS = setting({
  ...redis,
  required: 'name the Redis of the fleet with --redis or REDIS_URL',
});

export const PRIORITY = setting({
  flag: '--priority',
  key: 'priority',
  help: 'share of the fleet, compared with other runs: each step up gets three times as many shards judged (needs Redis)',
  kind: choice('priority', PRIORITIES),
  default: 'normal',
  example: 'low',
});

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
  help: `maximum concurrent shards per lane, 1 to ${MAX_CONCURRENCY}`,
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

/** How long a run on a fleet, or a worker, waits for guards; Redis keeps the work in the meantime. */
export const FLEET_MAX_WAIT = '2h';

export const START_WAIT = setting({
  flag: '--start-wait',
  help: 'how long to wait for Redis and guards at the start, in s, m or h, before stopping with status 4',
  kind: duration(),
  default: '30s',
  shown: '--max-wait if that is given, else 30s',
  example: '10m',
});

export const MAX_WAIT = setting({
  flag: '--max-wait',
  key: 'maxWait',
  help: 'how long to wait while no guard is ready (with Redis: nothing is judged), in s, m or h, before stopping with status 4',
  keyNote: 'at most `168h`; the start waits as long, unless `--start-wait` is given',
  kind: duration(),
  default: '10m',
  shown: `\`10m\`; \`${FLEET_MAX_WAIT}\` with Redis`,
  example: '2h',
});

export const WORKER_MAX_WAIT = setting({
  flag: '--max-wait',
  help: 'how long to wait while no guard is ready, in s, m or h, before stopping with status 4',
  kind: duration(),
  default: FLEET_MAX_WAIT,
  example: '10m',
});
