import { spawn } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRequire } from 'node:module';
import { Failure } from '../../domain/failure.ts';
import { openForAppending } from '../../files/create-file.ts';
import { controlFolder, makeControlFolder } from '../../runs/control/control-files.ts';
import { latestFeedEpoch } from '../../runs/control/feed-claim.ts';
import type { Run } from '../../runs/create-run.ts';
import { isDiskFull } from '../../files/disk-full.ts';
import { checkServer } from '../../queue/redis/check-server.ts';
import type { Report } from '../../runs/run-events.ts';
import type { FeedUi, FleetAccess } from '../context.ts';
import { tell } from './run-report.ts';

const MAIN = createRequire(import.meta.url).resolve('#dist/src/cli/main.js');
const LOG = 'feeder.log';
const LOOK_EVERY_MS = 50;

/** Exit statuses of a feeder whose run is finished. */
const FINISHED: ReadonlySet<number> = new Set([0, 3, 5]);
const SERVICE_STATUS = 4;

/**
 * Creates or opens a run once Redis has answered, starts a process that feeds it in the background, and prints its
 * directory. Returns the exit status of the feeder if it has already ended, else 0.
 */
export async function detachRun(
  open: () => Promise<Run>,
  retry: boolean,
  access: FleetAccess,
  ui: FeedUi,
  report: Report,
): Promise<number> {
  const { redis } = access;
  report({ kind: 'fleet', redis });
  await checkServer(redis, ui.interrupts.drain, ui.startWaitMs, (line) => tell(ui, line));
  const run = await open();
  const status = await startFeeder(run, retry, access, ui);
  if (ui.json) ui.stdout.json({ run: run.record.run, dir: run.dir });
  else ui.stdout.line(run.dir);
  return status;
}

/**
 * Starts a run's feeder in a process of its own that logs to the run directory, and waits until it feeds. Returns 0, or
 * the exit status of a feeder that finished the run in the meantime. Failure when the feeder ends in another way,
 * `service` when its status was 4; the log says why. The feeder runs without a log if that cannot be written.
 */
async function startFeeder(
  run: Run,
  retry: boolean,
  { redis, insecure }: FleetAccess,
  ui: FeedUi,
): Promise<number> {
  await makeControlFolder(run.dir);
  const before = await latestFeedEpoch(run.dir);
  const path = join(controlFolder(run.dir), LOG);
  const log = await openLog(path);
  if (log === null) tell(ui, `the feeder runs without a log: ${path} cannot be written`);
  const insecureFlag = insecure ? ['--insecure-fleet'] : [];
  const { headFile, onFinish, exportClean, report } = ui.afterFinish;
  const afterFinish = [
    ...(headFile === null ? [] : [`--head-file=${headFile}`]),
    ...(exportClean === null ? [] : [`--export-clean=${exportClean.out}`]),
    ...(exportClean?.keepReview === true ? ['--keep=review'] : []),
    ...(report ? [] : ['--no-report']),
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
        // Other users can read a command line, not an environment: the URL may hold a password, and the fleet key is a secret.
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
    if (ended !== null && !FINISHED.has(ended)) {
      const kind = ended === SERVICE_STATUS ? 'service' : 'internal';
      throw new Failure(kind, `the feeder ended with status ${String(ended)}: see ${path}`);
    }
    child.unref();
    return ended ?? 0;
  } finally {
    await log?.close();
  }
}

/** Null when the disk is full. */
async function openLog(path: string): Promise<FileHandle | null> {
  try {
    return await openForAppending(path);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return null;
  }
}
