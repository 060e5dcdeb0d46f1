import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RedisAddress } from '../config/redis-url.ts';
import { Failure } from '../domain/failure.ts';
import { controlFolder, makeControlFolder } from '../runs/control/control-files.ts';
import { latestFeedEpoch } from '../runs/control/feed-claim.ts';
import type { Run } from '../runs/create-run.ts';
import { FILE_MODE } from '../sink/run-files.ts';
import type { FeedUi } from './context.ts';

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));
const LOG = 'feeder.log';
const LOOK_EVERY_MS = 50;

/**
 * Starts a run's feeder as a process of its own, with its log in the run directory, and waits until it feeds.
 * Failure('internal') when it ends before that; what it said is in the log.
 */
export async function detachFeeder(run: Run, retry: boolean, redis: RedisAddress, ui: FeedUi): Promise<void> {
  await makeControlFolder(run.dir);
  const before = await latestFeedEpoch(run.dir);
  const path = join(controlFolder(run.dir), LOG);
  const log = await open(path, 'a', FILE_MODE);
  try {
    const child = spawn(process.execPath, [MAIN, retry ? 'retry' : 'resume', run.dir], {
      cwd: ui.cwd,
      // The URL may hold a password: others can see a command line, not an environment.
      env: { ...ui.env, REDIS_URL: redis.url },
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
    });
    let ended: number | null = null;
    child.on('error', () => (ended = 1)).on('exit', (code) => (ended = code ?? 1));
    while (ended === null && (await latestFeedEpoch(run.dir)) === before) {
      await delay(LOOK_EVERY_MS, undefined, { signal: ui.interrupts.drain });
    }
    if (ended !== null && ended !== 0) {
      throw new Failure('internal', `the feeder ended with status ${String(ended)}: see ${path}`);
    }
    child.unref();
  } finally {
    await log.close();
  }
}
