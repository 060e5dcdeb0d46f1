import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { isRunId } from '../../config/values/run-name.ts';
import { shown } from '../../domain/text/shown.ts';
import { endInTime } from '../../queue/redis/key-end.ts';
import { readMembers } from '../../queue/redis/keys/members.ts';
import { withKey } from '../../queue/redis/keys/own-type.ts';
import { parseValue, readText, readValue, type Unread } from '../../queue/redis/keys/read-value.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import type { SealedPlace } from '../../queue/redis/sealing/fleet-seal.ts';

/** Version of the form of all jobs: a process of another one gives them back rather than drop them. */
export const JOB_FORM = 8;

/** A run that somebody feeds, as workers and sinks need to know it. */
export interface FleetRun {
  readonly run: string;
  /** Absolute path of the run directory, for the feeder and the sink, which share its file system. */
  readonly dir: string;
  /** Epoch of the feeder. */
  readonly epoch: number;
}

/** A run as its feeder announced it, with what its jobs look like. */
export interface AnnouncedRun extends FleetRun {
  /** Version of the form of its jobs; 0: from before it was told. */
  readonly form: number;
  /** Id of the fleet key that its jobs are sealed under; null: they are not. */
  readonly key: string | null;
}

const ANNOUNCED_RUN = z.object({
  run: z.string().refine(isRunId),
  dir: z
    .string()
    .max(4096)
    .refine((dir) => isAbsolute(dir) && !dir.includes('\0')),
  epoch: z.int().min(1),
  form: z.int().default(0),
  key: z.string().max(64).nullable().default(null),
  /** With a key: the rest, sealed, which shows that a feeder of this fleet said it. */
  proof: z.string().max(16_384).nullable().default(null),
});

function sealedPlace(folder: 'run' | 'problem', run: string): SealedPlace {
  return { run, folder, name: run };
}

/** What the proof of an announcement holds. */
function proven({ run, dir, epoch, form }: AnnouncedRun): string {
  return JSON.stringify([run, dir, epoch, form]);
}

/** Longest JSON text of a problem, in bytes. */
const MAX_PROBLEM = 16 * 1024;

/** Takes a text away; null when there is none, or what is there is longer or none. */
const TAKE = `
local text = false
if redis.call('TYPE', KEYS[1]).ok == 'string' and redis.call('STRLEN', KEYS[1]) <= tonumber(ARGV[1]) then
  text = redis.call('GET', KEYS[1])
end
redis.call('UNLINK', KEYS[1])
return text`;

/** Longest report of a problem or an obstacle, in characters. */
const MAX_REPORT = 1000;

/**
 * For so long the fleet knows of a run whose feeder is gone, in milliseconds; what it judged until then is committed.
 * Afterwards its jobs are dropped wherever they turn up.
 */
const KNOWN_MS = 600_000;

/** For so long an obstacle is shown after it was met, in milliseconds: longer than until it is met again. */
const OBSTACLE_MS = 15_000;

/** The runs that are fed at the moment. A cache: feeders say again and again what is true. */
export class FleetRuns {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Says that a run is fed. To be repeated: it is forgotten after ten minutes, or with Redis. */
  async register(run: FleetRun, signal: AbortSignal): Promise<void> {
    const { redis, seal } = this.#link;
    const announced: AnnouncedRun = { ...run, form: JOB_FORM, key: seal?.keyId ?? null };
    const proof = seal?.seal(sealedPlace('run', run.run), proven(announced)) ?? null;
    const text = JSON.stringify({ ...announced, proof });
    await retryWhileTransient(() => redis.set(this.#runKey(run.run), text, 'PX', KNOWN_MS), signal);
    await withKey(this.#link, this.#names, (names) => redis.sadd(names, run.run), signal);
  }

  async remove(run: string, signal: AbortSignal): Promise<void> {
    const { redis } = this.#link;
    const keys = [this.#runKey(run), this.#problemKey(run), this.#obstacleKey(run)];
    await retryWhileTransient(() => redis.del(...keys), signal);
    await withKey(this.#link, this.#names, (names) => redis.srem(names, run), signal);
  }

  /** Whether a run is known, even if what is said of it cannot be read. */
  async isRegistered(run: string, signal: AbortSignal): Promise<boolean> {
    return (await this.find(run, signal)) !== 'absent';
  }

  /**
   * A run as its feeder last announced it. `absent`: nobody feeds it. `unreadable`: somebody may, and whoever asks knows
   * more when its feeder has announced it again.
   */
  async find(run: string, signal: AbortSignal): Promise<AnnouncedRun | Unread> {
    if (!isRunId(run)) return 'absent';
    const key = this.#runKey(run);
    const read = await readValue(this.#link, key, ANNOUNCED_RUN, signal);
    if (read === 'absent') return read;
    await endInTime(this.#link, key, KNOWN_MS, signal);
    if (read === 'unreadable' || read.value.run !== run) return 'unreadable';
    const { proof, ...announced } = read.value;
    if (this.#isProven(announced, proof)) return announced;
    this.#link.skipped.skip(key, 'was not written by a feeder with the fleet key; skipped');
    return 'unreadable';
  }

  /** What was announced under another key cannot be told apart from what was forged: nobody acts on it. */
  #isProven(announced: AnnouncedRun, proof: string | null): boolean {
    const { seal } = this.#link;
    if (seal === null || announced.key !== seal.keyId) return true;
    return proof !== null && seal.open(sealedPlace('run', announced.run), proof) === proven(announced);
  }

  async list(signal: AbortSignal): Promise<AnnouncedRun[]> {
    return (await this.listAll([], signal)).fed;
  }

  /**
   * The runs that are fed, and the names of those that nobody has fed for long: what they left is to be swept. Those of
   * which neither can be told are in neither list. `known` are asked for whether they are still on the list or not.
   */
  async listAll(
    known: Iterable<string>,
    signal: AbortSignal,
  ): Promise<{ readonly fed: AnnouncedRun[]; readonly forgotten: string[] }> {
    const listed = await readMembers(this.#link, this.#names.key, isRunId, signal);
    const names = new Set([...known, ...listed]);
    const fed: AnnouncedRun[] = [];
    const forgotten: string[] = [];
    for (const name of names) {
      const run = await this.find(name, signal);
      if (run === 'absent') forgotten.push(name);
      else if (run !== 'unreadable') fed.push(run);
    }
    return { fed, forgotten };
  }

  /** Strikes off a run as one feeder announced it, unless a later one has announced it since. */
  async strikeOff({ run, epoch }: FleetRun, signal: AbortSignal): Promise<void> {
    const now = await this.find(run, signal);
    if (now === 'unreadable') return;
    if (now === 'absent' || now.epoch === epoch) await this.remove(run, signal);
  }

  /** Leaves word of why a run cannot go on, for its feeder; in our own words. */
  async reportProblem(run: string, problem: RunProblem, signal: AbortSignal): Promise<void> {
    const text = JSON.stringify(problem);
    const { seal } = this.#link;
    const sealed = seal === null ? text : seal.seal(sealedPlace('problem', run), text);
    await retryWhileTransient(
      () => this.#link.redis.set(this.#problemKey(run), sealed, 'PX', KNOWN_MS),
      signal,
    );
  }

  /**
   * What was reported since this was last called of the work of one feeder. What an earlier one left behind may still
   * meet what was mended since.
   */
  async takeProblem(run: string, epoch: number, signal: AbortSignal): Promise<RunProblem | null> {
    const key = this.#problemKey(run);
    const text = await retryWhileTransient(() => this.#link.redis.eval(TAKE, 1, key, MAX_PROBLEM), signal);
    if (typeof text !== 'string') return null;
    const { seal } = this.#link;
    const opened = seal === null ? text : seal.open(sealedPlace('problem', run), text);
    const problem = opened === null ? null : parseValue(opened, PROBLEM);
    if (problem === null) this.#link.skipped.skip(key, 'is malformed, forged or of another version; removed');
    return problem?.epoch === epoch ? { ...problem, message: shown(problem.message, MAX_REPORT) } : null;
  }

  /** Says what holds the run up at a worker, though others may go on with it; in our own words, for a short time. */
  async noteObstacle(run: string, obstacle: string, signal: AbortSignal): Promise<void> {
    await retryWhileTransient(
      () => this.#link.redis.set(this.#obstacleKey(run), obstacle, 'PX', OBSTACLE_MS),
      signal,
    );
  }

  /** What was noted last, as long as it is true, to be shown; null when nothing is. */
  async obstacle(run: string, signal: AbortSignal): Promise<string | null> {
    const key = this.#obstacleKey(run);
    const read = await readText(this.#link, key, signal);
    if (read === 'absent') return null;
    await endInTime(this.#link, key, OBSTACLE_MS, signal);
    return read === 'unreadable' ? null : shown(read.text, MAX_REPORT);
  }

  get #names(): { readonly key: string; readonly type: 'set' } {
    return { key: this.#link.key('runs'), type: 'set' };
  }

  #runKey(run: string): string {
    return this.#link.key('run', run);
  }

  #problemKey(run: string): string {
    return this.#link.key('problem', run);
  }

  #obstacleKey(run: string): string {
    return this.#link.key('obstacle', run);
  }
}

const PROBLEM = z.object({
  kind: z.enum(['internal', 'service']),
  message: z.string().max(MAX_REPORT),
  /** Of the feeder whose work met it. */
  epoch: z.int().min(1),
});

/** Why a run cannot go on: the kind of failure, and one line for people. */
export type RunProblem = z.output<typeof PROBLEM>;
