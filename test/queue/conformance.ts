import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Requeue, type WorkQueue } from '../../src/queue/work-queue.ts';
import { gate } from '../helpers/guards/gate.ts';
import { settled } from '../helpers/settled.ts';
import type { JobCodec } from '../../src/queue/redis/redis-queue.ts';

const never = new AbortController().signal;

/** Runs a consumer until everything expected was handled, then ends it. */
export async function consumeUntil(
  queue: WorkQueue<number>,
  done: () => boolean,
  handle: (value: number) => Promise<void>,
  concurrency: number,
): Promise<void> {
  const end = new AbortController();
  const consuming = queue.consume(handle, { concurrency, signal: end.signal });
  await settled(done);
  end.abort(new Error('enough'));
  await expect(consuming).rejects.toThrow('enough');
}

/** What every queue must do, whatever carries it. */
export function queueConformance(
  name: string,
  make: (bound: number) => WorkQueue<number> | Promise<WorkQueue<number>>,
): void {
  describe(`${name} queue`, () => {
    it('hands over everything once', async () => {
      const queue = await make(3);
      const seen: number[] = [];
      const handle = async (value: number) => void seen.push(value);
      const consuming = consumeUntil(queue, () => seen.length >= 100, handle, 2);
      for (let value = 0; value < 100; value++) await queue.add(value, never);
      await consuming;
      expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, value) => value));
    });

    it('makes the producer wait at the bound', async () => {
      const queue = await make(2);
      await queue.add(1, never);
      await queue.add(2, never);
      let added = false;
      const third = queue.add(3, never).then(() => (added = true));
      const seen: number[] = [];
      const handle = async (value: number) => {
        // What is being handled still takes up its place.
        if (value === 1) expect(added).toBe(false);
        seen.push(value);
      };
      await consumeUntil(queue, () => seen.length >= 3, handle, 1);
      await third;
      expect(seen).toEqual([1, 2, 3]);
    });

    it('never runs more handlers than it was allowed', async () => {
      const queue = await make(100);
      for (let value = 0; value < 50; value++) await queue.add(value, never);
      let [running, most, done] = [0, 0, 0];
      const full = gate();
      const handle = async () => {
        most = Math.max(most, ++running);
        if (running === 4) full.open();
        await full.opened;
        await new Promise(setImmediate);
        running--;
        done++;
      };
      await consumeUntil(queue, () => done >= 50, handle, 4);
      expect(most).toBe(4);
    });

    it('lets a waiting producer and a waiting consumer be aborted', async () => {
      const queue = await make(1);
      await queue.add(1, never);
      const stop = new AbortController();
      const adding = queue.add(2, stop.signal);
      stop.abort(new Error('stopped'));
      await expect(adding).rejects.toThrow('stopped');

      const empty = await make(1);
      const end = new AbortController();
      const consuming = empty.consume(async () => {}, { concurrency: 1, signal: end.signal });
      end.abort(new Error('ended'));
      await expect(consuming).rejects.toThrow('ended');
    });

    it('takes nothing more after a handler failed, waits for the others, and throws the failure', async () => {
      const queue = await make(10);
      for (let value = 0; value < 10; value++) await queue.add(value, never);
      const finished: number[] = [];
      const failing = gate();
      const handle = async (value: number) => {
        if (value === 1) {
          failing.open();
          throw new Error('handler failed');
        }
        await failing.opened;
        await delay(20);
        finished.push(value);
      };
      const consuming = queue.consume(handle, { concurrency: 2, signal: never });
      await expect(consuming).rejects.toThrow('handler failed');
      expect(finished).toEqual([0]);
    });

    it('hands a value that was given back over again, and goes on meanwhile', async () => {
      const queue = await make(10);
      for (let value = 0; value < 4; value++) await queue.add(value, never);
      const seen: number[] = [];
      let refused = false;
      const handle = async (value: number) => {
        if (value === 1 && !refused) {
          refused = true;
          throw new Requeue(20);
        }
        seen.push(value);
      };
      await consumeUntil(queue, () => seen.length >= 4, handle, 2);
      expect(seen.sort()).toEqual([0, 1, 2, 3]);
    });
  });
}

/** Jobs that are numbers, as JSON. */
export const numbers: JobCodec<number> = {
  id: (value) => `n-${value}`,
  encode: (value) => Buffer.from(JSON.stringify({ value })),
  envelope: (bytes) => JSON.parse(bytes.toString()) as object,
  sealNote: (_, note) => note,
  openNote: (_, sealed) => sealed,
  decode: (data) => {
    const { value } = data as { value: unknown };
    if (typeof value !== 'number') throw new Error('no number');
    return value;
  },
};
