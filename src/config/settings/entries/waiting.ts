import { duration } from '../kinds.ts';
import { setting } from '../setting.ts';

/** How long a run on a fleet, or a worker, waits for guards: Redis keeps the work meanwhile. */
export const FLEET_MAX_WAIT = '2h';

const startWait = {
  flag: '--start-wait',
  help: 'how long to wait for Redis and guards at the start, in s, m or h, before stopping with status 4',
  kind: duration(),
  default: '30s',
  example: '10m',
} as const;

export const START_WAIT = setting(startWait);

export const RUN_START_WAIT = setting({
  ...startWait,
  shown: '--max-wait or maxWait of the job file where given, else 30s',
});

export const WORKER_START_WAIT = setting({ ...startWait, shown: '--max-wait where it is given, else 30s' });

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
