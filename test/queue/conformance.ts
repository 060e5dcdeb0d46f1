import { describe, expect, it } from 'vitest';
import { type WorkQueue } from '../../src/queue/work-queue.ts';

const never = new AbortController().signal;

/** What every queue must do, whatever carries it. */
export function queueConformance(name: string, make: (bound: number) => WorkQueue<number>): void {
  describe(`${name} queue`, () => {
    it('hands over everything once and ends when closed and empty', async () => {
      const queue = make(3);
      const seen: number[] = [];
      const consuming = queue.consume(async (value) => void seen.push(value), {
        concurrency: 2,
        signal: never,
      });
      for (let value = 0; value < 100; value++) await queue.add(value, never);
      queue.close();
      queue.close();
      await consuming;
      expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, value) => value));
    });

    it('makes the producer wait at the bound', async () => {
      const queue = make(2);
      await queue.add(1, never);
      await queue.add(2, never);
      let added = false;
      const third = queue.add(3, never).then(() => (added = true));
      await new Promise(setImmediate);
      expect(added).toBe(false);
      queue.close();
      const seen: number[] = [];
      await queue
        .consume(async (value) => void seen.push(value), { concurrency: 1, signal: never })
        .catch(() => {});
      await third.catch(() => {});
      expect(seen.slice(0, 2)).toEqual([1, 2]);
    });

    it('never runs more handlers than it was allowed', async () => {
      const queue = make(100);
      for (let value = 0; value < 50; value++) await queue.add(value, never);
      queue.close();
      let running = 0;
      let most = 0;
      await queue.consume(
        async () => {
          most = Math.max(most, ++running);
          await new Promise(setImmediate);
          running--;
        },
        { concurrency: 4, signal: never },
      );
      expect(most).toBe(4);
    });

    it('lets a waiting producer and a waiting consumer be aborted', async () => {
      const queue = make(1);
      await queue.add(1, never);
      const stop = new AbortController();
      const adding = queue.add(2, stop.signal);
      stop.abort(new Error('stopped'));
      await expect(adding).rejects.toThrow('stopped');

      const empty = make(1);
      const end = new AbortController();
      const consuming = empty.consume(async () => {}, { concurrency: 1, signal: end.signal });
      end.abort(new Error('ended'));
      await expect(consuming).rejects.toThrow('ended');
    });

    it('takes nothing more after a handler failed, waits for the others, and throws the failure', async () => {
      const queue = make(10);
      for (let value = 0; value < 10; value++) await queue.add(value, never);
      queue.close();
      const finished: number[] = [];
      const consuming = queue.consume(
        async (value) => {
          if (value === 1) throw new Error('handler failed');
          await new Promise(setImmediate);
          finished.push(value);
        },
        { concurrency: 2, signal: never },
      );
      await expect(consuming).rejects.toThrow('handler failed');
      expect(finished).toEqual([0]);
    });
  });
}
