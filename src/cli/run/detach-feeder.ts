import { spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../domain/failure.ts';
import { openForAppending } from '../../files/create-file.ts';
import { controlFolder, makeControlFolder } from '../../runs/control/control-files.ts';
import { latestFeedEpoch } from '../../runs/control/feed-claim.ts';
import type { Run } from '../../runs/create-run.ts';
import { isDiskFull } from '../../files/disk-full.ts';
import type { FeedUi, FleetAccess } from '../context.ts';
import { tell } from './run-report.ts';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const LOG = 'feeder.log';
const LOOK_EVERY_MS = 50;

/** Statuses of a run that came to its end, in whatever way. */
const CAME_TO_ITS_END: ReadonlySet<number> = new Set([0, 3, 5]);
const SERVICE_STATUS = 4;

/**
 * Starts a run's feeder as a process of its own, with its log in the run directory, and waits until it feeds. Gives 0,
 * or the status of a run that came to its end in that time. Failure when the feeder ends before that, `service` when it
 * ended with status 4; what it said is in the log. A log that cannot be written is done without.
 */
export async function detachFeeder(
  run: Run,
  retry: boolean,
  { redis, insecure }: FleetAccess,
  ui: FeedUi,
): Promise<number> {
  await makeControlFolder(run.dir);
  const before = await latestFeedEpoch(run.dir);
  const path = join(controlFolder(run.dir), LOG);
  const log = await openLog(path);
  if (log === null) tell(ui, `the feeder goes on without a log: ${path} cannot be written`);
  const insecureFlag = insecure ? ['--insecure-fleet'] : [];
  const { headFile, onFinish } = ui.afterFinish;
  const afterFinish = [
    ...(headFile === null ? [] : [`--head-file=${headFile}`]),
    ...onFinish.map((word) => `--on-finish=${word}`),
  ];
  const startWait = `${Math.ceil(ui.startWaitMs / 1000)}s`;
  try {
    const child = spawn(
      process.execPath,
      [
        ...[MAIN, retry ? 'retry' : 'resume', run.dir, '--trust-run', '--start-wait', startWait],
        ...insecureFlag,
        ...afterFinish,
      ],
      {
        cwd: ui.cwd,
        // The URL may hold a password, and the fleet key is one: others can see a command line, not an environment.
        env: { ...ui.env, REDIS_URL: redis.url },
        stdio: ['ignore', log?.fd ?? 'ignore', log?.fd ?? 'ignore'],
        detached: true,
      },
    );
    let ended: number | null = null;
    child.on('error', () => (ended = 1)).on('exit', (code) => (ended = code ?? 1));
    while (ended === null && (await latestFeedEpoch(run.dir)) === before) {
      await delay(LOOK_EVERY_MS, undefined, { signal: ui.interrupts.drain });
    }
    if (ended !== null && !CAME_TO_ITS_END.has(ended)) {
      const kind = ended === SERVICE_STATUS ? 'service' : 'internal';
      throw new Failure(kind, `the feeder ended with status ${String(ended)}: see ${path}`);
    }
    child.unref();
    return ended ?? 0;
  } finally {
    await log?.close();
  }
}

/** Null when there is no room for a log: work goes on without it. */
async function openLog(path: string): Promise<FileHandle | null> {
  try {
    return await openForAppending(path);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return null;
  }
}
