import { parseRedisUrl } from '../../values/redis-url.ts';
import { PRIORITIES } from '../../run-config.ts';
import { choice, single, SWITCH } from '../kinds.ts';
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

/** The Redis of a process that is a part of a fleet. */
export const FLEET_REDIS = setting({
  ...redis,
  required: 'name the Redis of the fleet with --redis or REDIS_URL',
});

export const PRIORITY = setting({
  flag: '--priority',
  key: 'priority',
  help: 'share of the fleet beside other runs: each step up gets four times as many shards judged (needs Redis)',
  kind: choice('priority', PRIORITIES),
  default: 'normal',
  example: 'low',
});

export const INSECURE_FLEET = setting({
  flag: '--insecure-fleet',
  help: 'use a Redis on another machine without GUARDSWEEP_FLEET_KEY: anyone who can reach it can forge outcomes',
  kind: SWITCH,
  default: 'false',
  shown: 'a key is required there',
});

export const DETACH = setting({
  flag: '--detach',
  help: 'run the feeder in the background, with its log in the run directory (needs Redis)',
  kind: SWITCH,
  default: 'false',
  shown: 'follow the run to its end',
});
