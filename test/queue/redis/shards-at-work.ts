import { Queue } from 'bullmq';
import { onTestFinished } from 'vitest';
import { shardJobCodec } from '../../../src/fleet/jobs/shard-job.ts';
import { shardQueue } from '../../../src/fleet/redis/fleet-queues.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { DroppedJobs } from '../../../src/queue/redis/sealing/dropped-jobs.ts';

/** A worker's side of the queue for texts, for the rest of the test: what it took, dropped and said. */
export function consumerOf(link: RedisLink) {
  const [taken, said, reasons]: [string[], string[], string[]] = [[], [], []];
  const note = (list: string[]) => (what: string) => void list.push(what);
  const dropped = new DroppedJobs(note(said), note(reasons));
  const queue = shardQueue(link, 'text', { lockMs: 30_000, dropped });
  const end = new AbortController();
  let ended = false;
  const consuming = queue
    .consume(async (job) => void taken.push(shardJobCodec.id(job)), { concurrency: 4, signal: end.signal })
    .catch(() => void (ended = true));
  onTestFinished(async () => {
    end.abort(new Error('the test is over'));
    await consuming;
    await queue.close();
  });
  return { link, queue, taken, said, reasons, hasEnded: () => ended };
}

/** Puts data into a queue as it is: BullMQ without any of ours. */
export function forger(link: RedisLink, folder = 'shards-text') {
  const queue = new Queue(folder, { connection: link.redis, prefix: link.address.prefix });
  onTestFinished(() => queue.close());
  return async (jobId: string, data: unknown): Promise<void> =>
    void (await queue.add('value', data, { jobId }));
}
