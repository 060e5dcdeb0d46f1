import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/domain/outcome.ts';
import {
  closeAfterAll,
  connect,
  failure,
  guard,
  judge,
  prompts,
  stateOf,
  verdict,
} from '../helpers/guards/guard-pool.ts';
import type { ScriptedGuard } from '../helpers/guards/scripted-guard.ts';

closeAfterAll();

/** So long that a loaded machine answers the others in time. */
const TIMEOUT_MS = 2000;
const SLOW = 'text 17';

/**
 * A guard that works on one request at a time, in order of arrival, for as long as `workMs` says. It also finishes
 * requests that their clients have given up.
 */
function oneInstance(
  maxBatchSize: number,
  workMs: (texts: readonly string[]) => number,
): Promise<ScriptedGuard> {
  let free: Promise<void> = Promise.resolve();
  const work = (ms: number): Promise<void> => (free = free.then(() => sleep(ms)));
  return guard({
    maxBatchSize,
    script: ({ inputs }) => work(workMs(inputs['TEXT']!)),
    onVersion: () => work(0),
  });
}

/** Work of 2 ms, but `ms` for a request that holds one of the slow texts. */
const slowFor =
  (ms: number, slow: readonly string[] = [SLOW]) =>
  (texts: readonly string[]): number =>
    texts.some((text) => slow.includes(text)) ? ms : 2;

/** The slow texts end after five tries, and nothing else ends as an error. */
function expectOnlySlow(outcomes: readonly Outcome[], slow: readonly string[] = [SLOW]): void {
  const failed = outcomes.flatMap((outcome, index) => (outcome.failure ? [`text ${index}`] : []));
  expect(failed).toEqual(slow);
  for (const text of slow) {
    const outcome = outcomes[Number(text.slice('text '.length))];
    expect(failure(outcome)).toMatchObject({ error: { code: 'TIMEOUT' }, attempts: 5 });
  }
}

describe.concurrent('an item that occupies the only instance beyond the request timeout fails alone', () => {
  test.each([
    ['batches of 8', 8, 1.25],
    ['single requests', 0, 1.25],
    ['batches of 8, for longer than a harmless text waits', 8, 2.6],
  ])('%s', async (_, maxBatchSize, times) => {
    const server = await oneInstance(maxBatchSize, slowFor(TIMEOUT_MS * times));
    const pool = await connect([server], { requestTimeoutMs: TIMEOUT_MS });
    expectOnlySlow(await judge(pool, prompts(100)));
  });

  test('after its second timeout it is sent when the guard has nothing else to do', async () => {
    const server = await oneInstance(8, slowFor(TIMEOUT_MS * 1.25));
    const pool = await connect([server], { requestTimeoutMs: TIMEOUT_MS });
    await judge(pool, prompts(100));
    const tries = server.seen.filter(({ inputs }) => inputs['TEXT']!.includes(SLOW));
    // At least: a try counts only if the guard was seen to be alive, and a machine may be slow for a while.
    expect(tries.length).toBeGreaterThanOrEqual(5);
    for (const { rows, inFlight } of tries.slice(2))
      expect({ rows, inFlight }).toEqual({ rows: 1, inFlight: 1 });
  });

  test('unless the guard is slow as a whole for a while, which costs no attempts', async () => {
    let slow = true;
    const server = await oneInstance(8, () => (slow ? TIMEOUT_MS * 1.5 : 2));
    const pool = await connect([server], { requestTimeoutMs: TIMEOUT_MS });
    const out = stateOf(pool, 'out');
    const judged = judge(pool, prompts(60));
    await out;
    slow = false;
    for (const outcome of await judged) expect(verdict(outcome).attempts).toBe(1);
  });
});
