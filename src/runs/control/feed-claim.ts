import { randomBytes } from 'node:crypto';
import { lutimes, lstat, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { createFile } from '../../files/create-file.ts';
import { listFolder } from '../../files/folders.ts';
import { readWholeFile } from '../../files/open-file.ts';
import { assertNotPurged } from '../../record/purged.ts';
import { controlFolder, makeControlFolder } from './control-files.ts';

/** Heartbeat interval of a feeder, in milliseconds. */
const HEARTBEAT_MS = 2000;
/** After this long without a heartbeat a feeder counts as dead, in milliseconds. */
const DEAD_AFTER_MS = 15_000;

const RECORD = z.looseObject({
  host: z.string(),
  pid: z.int(),
  fleet: z.boolean(),
  at: z.string().optional(),
  key: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});

/** The current or last feeder of a run. */
export interface Feeder {
  readonly epoch: number;
  readonly host: string;
  readonly pid: number;
  /** Whether it feeds a fleet; otherwise it judges in its own process. */
  readonly fleet: boolean;
  /** When it started; ISO 8601, UTC. */
  readonly at?: string | undefined;
  readonly alive: boolean;
}

/**
 * The exclusive right to plan and feed a run. A process takes it by claiming the next epoch, and the previous holder
 * stops. While the claim is held, the modification time of its file serves as heartbeat.
 */
export class FeedClaim {
  readonly epoch: number;
  /** 32 random bytes in hex, which only processes with access to the run directory know. */
  readonly key: string;
  readonly #runDir: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(runDir: string, epoch: number, key: string) {
    this.#runDir = runDir;
    this.epoch = epoch;
    this.key = key;
    const path = join(controlFolder(runDir), feedName(epoch));
    this.#timer = setInterval(() => {
      const now = new Date();
      // A failed heartbeat needs no handling: its absence is the signal.
      lutimes(path, now, now).catch(() => {});
    }, HEARTBEAT_MS);
    this.#timer.unref();
  }

  /**
   * Claims the next epoch; the first is 1. Failure('purged') for a run that is being purged. On a full disk it rejects
   * with the system's error, and the current feeder keeps its claim.
   */
  static async take(runDir: string, { fleet }: { readonly fleet: boolean }): Promise<FeedClaim> {
    await makeControlFolder(runDir);
    const key = randomBytes(32).toString('hex');
    for (;;) {
      const epoch = ((await listNumbers(runDir)).at(-1) ?? 0) + 1;
      if (!(await writeClaim(runDir, epoch, { fleet, key }))) continue;
      const claim = new FeedClaim(runDir, epoch, key);
      try {
        // A purge writes its note, then looks for claims: one of the two always sees the other.
        await assertNotPurged(runDir);
      } catch (error) {
        await claim.release();
        throw error;
      }
      return claim;
    }
  }

  /** Throws Failure('superseded') once a later epoch was claimed, and 'service' when the run directory is gone. */
  async assertCurrent(): Promise<void> {
    switch (await claimState(this.#runDir, this.epoch)) {
      case 'latest':
        return;
      case 'missing':
        throw new Failure('service', `the run directory ${this.#runDir} is gone: it was deleted or moved`);
      case 'superseded':
        throw new Failure('superseded', 'another process feeds this run now: this one stops');
    }
  }

  /** Stops the heartbeat: the run then has no feeder. Idempotent. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    // Backdates the last heartbeat: the feeder counts as dead at once.
    await lutimes(join(controlFolder(this.#runDir), feedName(this.epoch)), 0, 0).catch(() => {});
  }
}

/**
 * Whether the claim of an epoch is the latest. Called for every shard, so it does not list the folder: epochs are
 * claimed without gaps, so it only checks for later ones.
 */
export async function claimState(
  runDir: string,
  epoch: number,
): Promise<'latest' | 'superseded' | 'missing'> {
  for (let next = epoch + 1; ; next++) {
    const bytes = await claimBytes(runDir, next);
    if (bytes === null) break;
    if (bytes > 0) return 'superseded';
  }
  return ((await claimBytes(runDir, epoch)) ?? 0) > 0 ? 'latest' : 'missing';
}

/** The highest feed epoch of a run; 0 if it was never fed. */
async function latestFeedEpoch(runDir: string): Promise<number> {
  for (const epoch of (await listNumbers(runDir)).reverse()) {
    if (((await claimBytes(runDir, epoch)) ?? 0) > 0) return epoch;
  }
  return 0;
}

/**
 * The size of a claim's file; null if there is none. An empty file is not a claim: the disk was full, or its writer
 * died.
 */
async function claimBytes(runDir: string, epoch: number): Promise<number | null> {
  try {
    return (await lstat(join(controlFolder(runDir), feedName(epoch)))).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Returns false when another process took the epoch. */
async function writeClaim(
  runDir: string,
  epoch: number,
  more: { readonly fleet: boolean; readonly key: string },
): Promise<boolean> {
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
      `${JSON.stringify({ host: hostname(), pid: process.pid, at: new Date().toISOString(), ...more })}\n`,
    );
  } catch (error) {
    // The empty file stays: deleting it would leave a gap if another process took the next epoch.
    await file.truncate();
    throw error;
  } finally {
    await file.close();
  }
  return true;
}

/** The current or last feeder of a run; null when there was none, or its claim is unreadable. */
export async function readFeeder(runDir: string): Promise<Feeder | null> {
  const epoch = await latestFeedEpoch(runDir);
  if (epoch === 0) return null;
  const path = join(controlFolder(runDir), feedName(epoch));
  try {
    const { host, pid, fleet, at } = await readClaim(path);
    const age = Date.now() - (await lstat(path)).mtimeMs;
    return { epoch, host, pid, fleet, at, alive: age < DEAD_AFTER_MS };
  } catch {
    return null;
  }
}

/** Reads the key of an epoch's claim; null if there is no readable one. */
export async function feedKey(runDir: string, epoch: number): Promise<string | null> {
  try {
    return (await readClaim(join(controlFolder(runDir), feedName(epoch)))).key ?? null;
  } catch {
    return null;
  }
}

async function readClaim(path: string): Promise<z.output<typeof RECORD>> {
  const bytes = await readWholeFile(path, { maxBytes: 65_536, links: 'refuse' });
  return RECORD.parse(JSON.parse(bytes.toString()));
}

/** Whether a process that judges without a fleet claimed the run after the feeder of an epoch. */
export async function wasTakenOver(runDir: string, epoch: number): Promise<boolean> {
  const feeder = await readFeeder(runDir);
  return feeder !== null && feeder.epoch > epoch && !feeder.fleet;
}

function feedName(epoch: number): string {
  return `feed-${String(epoch).padStart(4, '0')}.json`;
}

/** Lists the claimed epochs in ascending order. */
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
