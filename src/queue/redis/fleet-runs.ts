import { z } from 'zod';
import type { RedisLink } from './link.ts';
import { patiently } from './patience.ts';

/** A run that somebody feeds, as workers and sinks need to know it. */
export interface FleetRun {
  readonly run: string;
  /** Absolute path of the run directory, for the feeder and the sink, which share its file system. */
  readonly dir: string;
  /** Epoch of the feeder. */
  readonly epoch: number;
}

const FLEET_RUN = z.object({ run: z.string().min(1), dir: z.string().min(1), epoch: z.int().min(1) });

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
    const { redis } = this.#link;
    await patiently(async () => {
      await redis.set(this.#runKey(run.run), JSON.stringify(run), 'PX', KNOWN_MS);
      await redis.sadd(this.#link.key('runs'), run.run);
    }, signal);
  }

  async remove(run: string, signal: AbortSignal): Promise<void> {
    const { redis } = this.#link;
    await patiently(async () => {
      await redis.del(this.#runKey(run), this.#problemKey(run), this.#obstacleKey(run));
      await redis.srem(this.#link.key('runs'), run);
    }, signal);
  }

  async isRegistered(run: string, signal: AbortSignal): Promise<boolean> {
    return (await this.find(run, signal)) !== null;
  }

  /** A run as its feeder last announced it; null when nobody feeds it. */
  async find(run: string, signal: AbortSignal): Promise<FleetRun | null> {
    const text = await patiently(() => this.#link.redis.get(this.#runKey(run)), signal);
    return text === null ? null : FLEET_RUN.parse(JSON.parse(text));
  }

  async list(signal: AbortSignal): Promise<FleetRun[]> {
    return (await this.listAll(signal)).fed;
  }

  /** The runs that are fed, and the names of those that nobody has fed for long: what they left is to be swept. */
  async listAll(signal: AbortSignal): Promise<{ readonly fed: FleetRun[]; readonly forgotten: string[] }> {
    const names = (await patiently(() => this.#link.redis.smembers(this.#link.key('runs')), signal)).sort();
    const fed: FleetRun[] = [];
    const forgotten: string[] = [];
    for (const name of names) {
      const run = await this.find(name, signal);
      if (run === null) forgotten.push(name);
      else fed.push(run);
    }
    return { fed, forgotten };
  }

  /** Strikes off a run as one feeder announced it, unless a later one has announced it since. */
  async strikeOff({ run, epoch }: FleetRun, signal: AbortSignal): Promise<void> {
    const now = await this.find(run, signal);
    if (now === null || now.epoch === epoch) await this.remove(run, signal);
  }

  /** Leaves word of why a run cannot go on, for its feeder; in our own words. */
  async reportProblem(run: string, problem: RunProblem, signal: AbortSignal): Promise<void> {
    const text = JSON.stringify(problem);
    await patiently(() => this.#link.redis.set(this.#problemKey(run), text, 'PX', KNOWN_MS), signal);
  }

  /**
   * What was reported since this was last called of the work of one feeder. What an earlier one left behind may still
   * meet what was mended since.
   */
  async takeProblem(run: string, epoch: number, signal: AbortSignal): Promise<RunProblem | null> {
    const text = await patiently(() => this.#link.redis.getdel(this.#problemKey(run)), signal);
    const problem = text === null ? null : PROBLEM.parse(JSON.parse(text));
    return problem?.epoch === epoch ? problem : null;
  }

  /** Says what holds the run up at a worker, though others may go on with it; in our own words, for a short time. */
  async noteObstacle(run: string, obstacle: string, signal: AbortSignal): Promise<void> {
    await patiently(() => this.#link.redis.set(this.#obstacleKey(run), obstacle, 'PX', OBSTACLE_MS), signal);
  }

  /** What was noted last, as long as it is true; null when nothing is. */
  obstacle(run: string, signal: AbortSignal): Promise<string | null> {
    return patiently(() => this.#link.redis.get(this.#obstacleKey(run)), signal);
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
  message: z.string(),
  /** Of the feeder whose work met it. */
  epoch: z.int().min(1),
});

/** Why a run cannot go on: the kind of failure, and one line for people. */
export type RunProblem = z.output<typeof PROBLEM>;
