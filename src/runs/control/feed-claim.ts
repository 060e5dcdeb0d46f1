import { lutimes, lstat, rm, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { createFile } from '../../files/create-file.ts';
import { listFolder } from '../../files/list-folder.ts';
import { readWholeFile } from '../../files/open-file.ts';
import { controlFolder, makeControlFolder } from './control-files.ts';

/** How often a feeder says that it is there, in milliseconds. */
const BEAT_MS = 2000;
/** After so long without a sign a feeder counts as gone, in milliseconds. */
const GONE_AFTER_MS = 15_000;

const RECORD = z.looseObject({
  host: z.string(),
  pid: z.int(),
  fleet: z.boolean(),
  at: z.string().optional(),
});

/** Who feeds a run, or did last. */
export interface Feeder {
  readonly epoch: number;
  readonly host: string;
  readonly pid: number;
  /** Whether it feeds a fleet; else it judges in its own process. */
  readonly fleet: boolean;
  /** When it began, ISO 8601, UTC. */
  readonly at?: string | undefined;
  readonly alive: boolean;
}

/**
 * The right to plan and feed a run: whoever claims the next epoch has it, and whoever had it before stops. While it
 * is held, the time of its file tells that the feeder lives.
 */
export class FeedClaim {
  readonly epoch: number;
  readonly #runDir: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(runDir: string, epoch: number) {
    this.#runDir = runDir;
    this.epoch = epoch;
    const path = join(controlFolder(runDir), feedName(epoch));
    this.#timer = setInterval(() => {
      const now = new Date();
      // A beat that fails is told by its absence.
      lutimes(path, now, now).catch(() => {});
    }, BEAT_MS);
    this.#timer.unref();
  }

  /**
   * Claims the next epoch, from 1. On a full disk it rejects with the system's error, and whoever feeds the run goes on.
   */
  static async take(runDir: string, { fleet }: { readonly fleet: boolean }): Promise<FeedClaim> {
    await makeControlFolder(runDir);
    for (;;) {
      const epoch = ((await listNumbers(runDir)).at(-1) ?? 0) + 1;
      if (await writeClaim(runDir, epoch, fleet)) return new FeedClaim(runDir, epoch);
    }
  }

  /** Throws Failure('superseded') once a later epoch was claimed. */
  async assertCurrent(): Promise<void> {
    if ((await latestFeedEpoch(this.#runDir)) <= this.epoch) return;
    throw new Failure('superseded', 'another process feeds this run now: this one stops');
  }

  /** Ends the beat; the run then has no feeder. Safe to call twice. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    // A time long ago: nobody has to wait until the last beat is too old.
    await lutimes(join(controlFolder(this.#runDir), feedName(this.epoch)), 0, 0).catch(() => {});
  }
}

/**
 * The highest feed epoch of a run; 0 when nobody ever fed it. A file without content is no claim: its writer found no
 * room for more, or died.
 */
export async function latestFeedEpoch(runDir: string): Promise<number> {
  for (const epoch of (await listNumbers(runDir)).reverse()) {
    if (await isWritten(join(controlFolder(runDir), feedName(epoch)))) return epoch;
  }
  return 0;
}

async function isWritten(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).size > 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** False when another process took the number. */
async function writeClaim(runDir: string, epoch: number, fleet: boolean): Promise<boolean> {
  const path = join(controlFolder(runDir), feedName(epoch));
  let file: FileHandle;
  try {
    file = await createFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    await file.write(
      `${JSON.stringify({ host: hostname(), pid: process.pid, fleet, at: new Date().toISOString() })}\n`,
    );
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return true;
}

/** Who feeds a run, or did last; null when nobody did, or that cannot be told. */
export async function readFeeder(runDir: string): Promise<Feeder | null> {
  const epoch = await latestFeedEpoch(runDir);
  if (epoch === 0) return null;
  const path = join(controlFolder(runDir), feedName(epoch));
  try {
    const { host, pid, fleet, at } = RECORD.parse(
      JSON.parse((await readWholeFile(path, { maxBytes: 65_536, links: 'refuse' })).toString()),
    );
    const age = Date.now() - (await lstat(path)).mtimeMs;
    return { epoch, host, pid, fleet, at, alive: age < GONE_AFTER_MS };
  } catch {
    return null;
  }
}

/** Whether a process that needs no fleet has claimed the run after the feeder of an epoch. */
export async function wasTakenOver(runDir: string, epoch: number): Promise<boolean> {
  const feeder = await readFeeder(runDir);
  return feeder !== null && feeder.epoch > epoch && !feeder.fleet;
}

function feedName(epoch: number): string {
  return `feed-${String(epoch).padStart(4, '0')}.json`;
}

/** The numbers that were taken, ascending. */
async function listNumbers(runDir: string): Promise<number[]> {
  let names: string[];
  try {
    names = await listFolder(controlFolder(runDir));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names
    .map((name) => /^feed-(\d{4,9})\.json$/.exec(name)?.[1])
    .filter((epoch) => epoch !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}
