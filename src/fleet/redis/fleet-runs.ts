import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { isRunId } from '../../config/values/run-name.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { parseValue, readNames, readValue, type Unread } from '../../queue/redis/values.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import type { SealedPlace } from '../../queue/redis/sealing/fleet-seal.ts';

/** Version of the job format. A process with a different version requeues the jobs instead of dropping them. */
export const JOB_FORM = 16;

const ANNOUNCED_RUN = z.object({
  run: z.string().refine(isRunId),
  /** Absolute path of the run directory, for the feeder and the sink, which share its file system. */
  dir: z
    .string()
    .max(4096)
    .refine((dir) => isAbsolute(dir) && !dir.includes('\0')),
  /** Epoch of the feeder. */
  epoch: z.int().min(1),
  /** Version of its job format; 0 if its feeder is too old to announce one. */
  form: z.int().default(0),
  /** Id of the fleet key that seals its jobs; null if they are not sealed. */
  key: z.string().max(64).nullable().default(null),
  /** With a key: the other fields, sealed, which prove that a feeder of this fleet wrote them. */
  proof: z.string().max(16_384).nullable().default(null),
});

/** A run as its feeder announced it, with the format of its jobs. */
export type AnnouncedRun = Readonly<Omit<z.output<typeof ANNOUNCED_RUN>, 'proof'>>;

/** A run that is being fed, with only the fields that workers and sinks need. */
export type FleetRun = Pick<AnnouncedRun, 'run' | 'dir' | 'epoch'>;

function sealedPlace(folder: 'run' | 'problem', run: string): SealedPlace {
  return { run, folder, name: run };
}

/** The plaintext of an announcement's proof. */
function proven({ run, dir, epoch, form }: AnnouncedRun): string {
  return JSON.stringify([run, dir, epoch, form]);
}

/** Maximum length of a reported problem or obstacle, in UTF-16 code units. */
const MAX_REPORT = 1000;

/**
 * How long a run stays registered after its feeder is gone, in milliseconds. Shards judged before then are committed;
 * after that, workers and sinks drop its jobs.
 */
const REGISTRATION_TTL_MS = 600_000;

/** How long an obstacle is kept, in milliseconds; longer than the interval at which it recurs. */
const OBSTACLE_TTL_MS = 15_000;

/** The runs that are being fed. Redis may lose entries: feeders register their runs repeatedly. */
export class FleetRuns {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Announces that a run is fed. Must be repeated, because it expires after ten minutes and Redis can lose it. */
  async register(run: FleetRun, signal: AbortSignal): Promise<void> {
    const { redis, seal } = this.#link;
    const announced: AnnouncedRun = { ...run, form: JOB_FORM, key: seal?.keyId ?? null };
    const proof = seal?.seal(sealedPlace('run', run.run), proven(announced)) ?? null;
    const text = JSON.stringify({ ...announced, proof });
    await retryWhileTransient(
      () => redis.set(this.#runKey(run.run), text, 'PX', REGISTRATION_TTL_MS),
      signal,
    );
    await this.remember(run.run, signal);
  }

  /** Records that a run has keys in Redis, so a sink removes them when nobody feeds it. */
  async remember(run: string, signal: AbortSignal): Promise<void> {
    await retryWhileTransient(() => this.#link.redis.sadd(this.#names, run), signal);
  }

  async remove(run: string, signal: AbortSignal): Promise<void> {
    const { redis } = this.#link;
    const keys = [this.#runKey(run), this.#problemKey(run), this.#obstacleKey(run)];
    await retryWhileTransient(() => redis.del(...keys), signal);
    await retryWhileTransient(() => redis.srem(this.#names, run), signal);
  }

  /** Whether a run is registered, even if its announcement cannot be read. */
  async isRegistered(run: string, signal: AbortSignal): Promise<boolean> {
    return (await this.find(run, signal)) !== 'absent';
  }

  /**
   * Finds a run as its feeder last announced it. `absent` means that no feeder feeds it; `unreadable` means that one
   * may, so try again after its next announcement.
   */
  async find(run: string, signal: AbortSignal): Promise<AnnouncedRun | Unread> {
    if (!isRunId(run)) return 'absent';
    const key = this.#runKey(run);
    const read = await readValue(this.#link, key, ANNOUNCED_RUN, signal);
    if (typeof read === 'string') return read;
    if (read.value.run !== run) return 'unreadable';
    const { proof, ...announced } = read.value;
    if (this.#isProven(announced, proof)) return announced;
    this.#link.reportSkipped(key, 'was not written by a feeder with the fleet key');
    return 'unreadable';
  }

  /** An announcement under another key may be forged. It cannot be checked here, so callers compare the key first. */
  #isProven(announced: AnnouncedRun, proof: string | null): boolean {
    const { seal } = this.#link;
    if (seal === null || announced.key !== seal.keyId) return true;
    return proof !== null && seal.open(sealedPlace('run', announced.run), proof) === proven(announced);
  }

  async list(signal: AbortSignal): Promise<AnnouncedRun[]> {
    return (await this.listAll([], signal)).fed;
  }

  /**
   * Lists the runs that are fed, and the names of expired ones, whose keys must be swept. A run with an unreadable
   * announcement is in neither list. Runs in `known` are looked up even if they are no longer registered.
   */
  async listAll(
    known: Iterable<string>,
    signal: AbortSignal,
  ): Promise<{ readonly fed: AnnouncedRun[]; readonly forgotten: string[] }> {
    const listed = await readNames(this.#link, this.#names, isRunId, signal);
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

  /** Removes a run, unless a later feeder than the given one has announced it since. */
  async removeUnlessRefed({ run, epoch }: FleetRun, signal: AbortSignal): Promise<void> {
    const now = await this.find(run, signal);
    if (now === 'unreadable') return;
    if (now === 'absent' || now.epoch === epoch) await this.remove(run, signal);
  }

  /** Tells the run's feeder why the run cannot continue. The message must not quote untrusted text. */
  async reportProblem(run: string, problem: RunProblem, signal: AbortSignal): Promise<void> {
    const text = JSON.stringify(problem);
    const { seal } = this.#link;
    const sealed = seal === null ? text : seal.seal(sealedPlace('problem', run), text);
    await retryWhileTransient(
      () => this.#link.redis.set(this.#problemKey(run), sealed, 'PX', REGISTRATION_TTL_MS),
      signal,
    );
  }

  /**
   * Reads and removes the last problem reported about a feeder's jobs. Jobs of an earlier feeder can still hit a problem
   * that has been fixed since, so reports about those are discarded.
   */
  async takeProblem(run: string, epoch: number, signal: AbortSignal): Promise<RunProblem | null> {
    const key = this.#problemKey(run);
    const text = await retryWhileTransient(() => this.#link.redis.getdel(key), signal);
    if (text === null) return null;
    const { seal } = this.#link;
    const opened = seal === null ? text : seal.open(sealedPlace('problem', run), text);
    const problem = opened === null ? null : parseValue(opened, PROBLEM);
    if (problem === null) this.#link.reportSkipped(key, 'is malformed, forged or of another version');
    return problem?.epoch === epoch ? { ...problem, message: escapeText(problem.message, MAX_REPORT) } : null;
  }

  /**
   * Notes for a short time why one worker or sink cannot process the run; others may be able to. The obstacle must not
   * quote untrusted text.
   */
  async noteObstacle(run: string, obstacle: string, signal: AbortSignal): Promise<void> {
    await retryWhileTransient(
      () => this.#link.redis.set(this.#obstacleKey(run), obstacle, 'PX', OBSTACLE_TTL_MS),
      signal,
    );
  }

  /** The last noted obstacle, for display; null if there is none or it has expired. */
  async obstacle(run: string, signal: AbortSignal): Promise<string | null> {
    const key = this.#obstacleKey(run);
    const text = await retryWhileTransient(() => this.#link.redis.get(key), signal);
    return text === null ? null : escapeText(text, MAX_REPORT);
  }

  get #names(): string {
    return this.#link.key('runs');
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
  /** Epoch of the feeder whose jobs had the problem. */
  epoch: z.int().min(1),
});

/** Why a run cannot continue: the kind of failure, and one human-readable line. */
type RunProblem = z.output<typeof PROBLEM>;
