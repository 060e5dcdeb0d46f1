import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ConnectionWatch } from '../../../src/guard/triton/connection-watch.ts';

type On = 'this connection' | 'a new connection';

/** A watch over one call that gets no answer; signs of life come as `isAlive` says. */
function watchOver(isAlive: (on: On, signal: AbortSignal) => Promise<boolean>): {
  watch: ConnectionWatch;
  asked: On[];
  stuck: Promise<void>;
} {
  const asked: On[] = [];
  let watch!: ConnectionWatch;
  const stuck = new Promise<void>((resolve) => {
    watch = new ConnectionWatch({
      isAlive: (on, signal) => {
        asked.push(on);
        return isAlive(on, signal);
      },
      stuck: resolve,
    });
  });
  watch.sent();
  return { watch, asked, stuck };
}

/** Nothing, until it is given up. */
function silence(signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false)));
}

/** Resolves when the watch has asked so often. */
async function askedTimes(asked: readonly On[], times: number): Promise<void> {
  while (asked.length < times) await sleep(20);
}

test.concurrent('a connection is stuck when the server answers on a new one only', async () => {
  const { watch, asked, stuck } = watchOver((on, signal) =>
    on === 'this connection' ? silence(signal) : Promise.resolve(true),
  );
  await stuck;
  const once: On[] = ['this connection', 'a new connection'];
  expect(asked).toEqual([...once, ...once, ...once]);
  watch.stop();
});

test.concurrent(
  'a server behind the same address may answer for one that is silent for a while: nothing is stuck',
  async () => {
    let isStuck = false;
    const { watch, asked, stuck } = watchOver((on, signal) => {
      const isSilent = on === 'this connection' && asked.filter((where) => where === on).length <= 2;
      return isSilent ? silence(signal) : Promise.resolve(true);
    });
    void stuck.then(() => (isStuck = true));
    await askedTimes(asked, 6);
    expect(isStuck).toBe(false);
    watch.stop();
  },
);

test.concurrent.each<[what: string, isAlive: (on: On, signal: AbortSignal) => Promise<boolean>]>([
  ['answers', () => Promise.resolve(true)],
  [
    'answers on no connection',
    (on, signal) => (on === 'this connection' ? silence(signal) : Promise.resolve(false)),
  ],
])('a server that %s is asked again later', async (_, isAlive) => {
  let isStuck = false;
  const { watch, asked, stuck } = watchOver(isAlive);
  void stuck.then(() => (isStuck = true));
  await askedTimes(asked, 3);
  expect(isStuck).toBe(false);
  watch.stop();
});

test.concurrent('a server that was blocked answers on both connections: nothing is stuck', async () => {
  let unblock!: (alive: boolean) => void;
  const blocked = new Promise<boolean>((resolve) => (unblock = resolve));
  let isStuck = false;
  const { watch, asked, stuck } = watchOver((on) => {
    if (on === 'this connection') return blocked;
    setTimeout(() => unblock(true), 50);
    return Promise.resolve(true);
  });
  void stuck.then(() => (isStuck = true));
  await askedTimes(asked, 3);
  expect(isStuck).toBe(false);
  watch.stop();
});

test.concurrent('no test is made while no call is pending', async () => {
  const { watch, asked } = watchOver(() => Promise.resolve(true));
  watch.answered();
  watch.ended();
  // One with a call pending makes its third test seconds later.
  const other = watchOver(() => Promise.resolve(true));
  await askedTimes(other.asked, 3);
  expect(asked).toEqual([]);
  watch.stop();
  other.watch.stop();
});
