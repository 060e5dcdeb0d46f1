import { expect, it } from 'vitest';
import { LocalQueue } from '../../src/queue/local-queue.ts';
import { queueConformance } from './conformance.ts';

queueConformance('local', (bound) => new LocalQueue<number>(bound));

it('a local queue that was closed ends its consumer when it is empty', async () => {
  const never = new AbortController().signal;
  const queue = new LocalQueue<number>(10);
  const seen: number[] = [];
  for (let value = 0; value < 5; value++) await queue.add(value, never);
  queue.close();
  queue.close();
  await queue.consume(async (value) => void seen.push(value), { concurrency: 2, signal: never });
  expect(seen).toEqual([0, 1, 2, 3, 4]);
});
