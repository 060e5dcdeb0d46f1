import { setTimeout as delay } from 'node:timers/promises';
import { Requeue } from '../../queue/work-queue.ts';
import type { FleetRuns } from '../redis/fleet-runs.ts';
import { sinkQueue } from '../redis/fleet-queues.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import type { RedisQueue } from '../../queue/redis/redis-queue.ts';
import type { ResultJob, SinkJob } from '../jobs/result-job.ts';

/** Maximum wait for room before a worker requeues its shard, in milliseconds. */
const WAIT_FOR_ROOM_MS = 10_000;
const LOOK_EVERY_MS = 100;
/** Requeue delay after that wait, in milliseconds. */
const REQUEUE_MS = 5000;
/** Maximum queues kept open. */
const MAX_OPEN = 64;

/** The queues to the sinks, one per run. */
export class ResultQueues {
  readonly #link: RedisLink;
  readonly #runs: FleetRuns;
  /** Queues by run, the least recently used first. */
  readonly #queues = new Map<string, RedisQueue<SinkJob>>();

  constructor(link: RedisLink, runs: FleetRuns) {
    this.#link = link;
    this.#runs = runs;
  }

  /**
   * Queues a result for the sink of its run. Waits up to 10 s while the queue is full, then throws `Requeue`, so this
   * worker can judge shards of other runs.
   */
  async put(job: ResultJob, signal: AbortSignal): Promise<void> {
    const { run } = job;
    const queue = this.#queue(run);
    const endsAt = performance.now() + WAIT_FOR_ROOM_MS;
    while (!(await queue.hasRoom(signal))) {
      if (performance.now() > endsAt) throw new Requeue(REQUEUE_MS);
      await delay(LOOK_EVERY_MS, undefined, { signal });
    }
    // In case this process dies before it can remove the result of an ended run.
    await this.#runs.remember(run, signal);
    await queue.put(job, signal);
    // A run is removed from the registry before its queue is cleared, so a result that is queued later is cleared here.
    if (!(await this.#runs.isRegistered(run, signal))) await queue.obliterate(signal);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #queue(run: string): RedisQueue<SinkJob> {
    const queue = this.#queues.get(run) ?? sinkQueue(this.#link, run);
    this.#queues.delete(run);
    this.#queues.set(run, queue);
    const [oldest] = this.#queues;
    if (this.#queues.size > MAX_OPEN && oldest !== undefined) {
      this.#queues.delete(oldest[0]);
      void oldest[1].close();
    }
    return queue;
  }
}
