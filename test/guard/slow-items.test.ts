import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'vitest';
import type { GuardPool } from '../../src/guard/pool/pool.ts';
import { closeAfterAll, connect, expectToOutlast, guard, judge } from '../helpers/guards/guard-pool.ts';
import { expectOnlyFailure } from '../helpers/guards/outcomes.ts';
import { prompts } from '../helpers/guards/requests.ts';
import type { SeenRequest } from '../helpers/guards/scripted-guard.ts';

closeAfterAll();

/** So long that a loaded machine answers the others in time. */
const TIMEOUT_MS = 2000;
const SLOW = 'text 17';

/**
 * The pool of a guard that works on one request at a time, in order of arrival, for as long as `workMs` says. It also
 * finishes requests that their clients have given up.
 */
async function oneInstance(workMs: (texts: readonly string[]) => number): Promise<GuardPool> {
  let free: Promise<void> = Promise.resolve();
  const work = (ms: number): Promise<void> => (free = free.then(() => sleep(ms)));
  const script = ({ inputs }: SeenRequest) => work(workMs(inputs['TEXT']!));
  const server = await guard({ maxBatchSize: 8, script, onVersion: () => work(0) });
  return connect([server], { requestTimeoutMs: TIMEOUT_MS });
}

describe.concurrent('an item that occupies the only instance beyond the request timeout fails alone', () => {
  test.each([
    ['for a while', 1.25],
    ['for longer than a harmless text waits', 2.6],
  ])('%s', async (_, times) => {
    const pool = await oneInstance((texts) => (texts.includes(SLOW) ? TIMEOUT_MS * times : 2));
    expectOnlyFailure(await judge(pool, prompts(100)), 17, 'TIMEOUT', 5);
  });

  test('unless the guard is slow as a whole for a while, which costs no attempts', async () => {
    let slow = true;
    const pool = await oneInstance(() => (slow ? TIMEOUT_MS * 1.5 : 2));
    await expectToOutlast(pool, prompts(60), () => (slow = false));
  });
});
