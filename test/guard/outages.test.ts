import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import {
  closeAfterEach,
  connect,
  conversation,
  failure,
  guard,
  judge,
  kserveHttpServer,
  kserveServer,
  prompts,
  restGuard,
  socketServer,
  stateOf,
  verdict,
} from '../helpers/guards/guard-pool.ts';
import type { SeenRequest } from '../helpers/guards/scripted-guard.ts';

closeAfterEach();

test('a conversation that loses its guard continues on the other, turn by turn', async () => {
  const dying = await guard({
    script: ({ number, cancelled }) => {
      if (number !== 1) return undefined;
      dying.kill();
      return cancelled;
    },
  });
  const pool = await connect([dying]);
  const messages = [1, 2, 3, 4].map((n) => ['user', `turn ${n}`] as const);
  const turns = [1, 2, 3, 4].map((count) => conversation(messages, { turns: count, of: 0 }));
  const out = stateOf(pool, 'out');
  const judged = judge(pool, turns);
  await out;
  const second = await guard({ port: dying.port });
  for (const outcome of await judged) expect(verdict(outcome).attempts).toBe(1);
  const counts = second.seen
    .filter(({ type }) => type === 'multiturn')
    .map(({ shapes }) => shapes['MESSAGES']![1]!);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts.at(-1)).toBe(4);
});

test('permanent overload is an outage', async () => {
  const server = await guard({
    script: () => ({ code: status.UNAVAILABLE, details: 'Exceeds maximum queue size' }),
  });
  const pool = await connect([server], { maxWaitMs: 300 });
  await expect(judge(pool, prompts(3))).rejects.toMatchObject({ kind: 'service' });
});

test('an item that brings the guard down again and again ends as an error, the others as verdicts', async () => {
  const holdsBad = ({ inputs }: SeenRequest): boolean => inputs['TEXT']!.includes('text 5');
  const server = await guard({
    script: (request) =>
      holdsBad(request)
        ? { code: status.INTERNAL, details: 'Stub process guard_0 is not healthy.' }
        : undefined,
  });
  const outcomes = await judge(await connect([server]), prompts(8));
  outcomes.forEach((outcome, index) => {
    if (index === 5) expect(failure(outcome)).toMatchObject({ error: { code: 'GUARD_UNAVAILABLE' } });
    else verdict(outcome);
  });
});

test('an idle guard of any kind that is killed is out without any request', async () => {
  const kinds = {
    contract: guard,
    kserve: kserveServer,
    http: kserveHttpServer,
    rest: restGuard,
    socketServer,
  };
  const states = Object.entries(kinds).map(async ([kind, start]) => {
    const started = await start();
    const pool = await connect([started]);
    const out = stateOf(pool, 'out');
    await started.kill();
    await out;
    return { kind, state: pool.status()[0]!.state };
  });
  for (const { kind, state } of await Promise.all(states)) {
    expect({ kind, ...state }).toMatchObject({ kind, name: 'out', fatal: false });
  }
});

test('an idle guard that is no longer ready is out until it is', async () => {
  let isReady = true;
  const pool = await connect([await guard({ ready: () => isReady })]);
  const out = stateOf(pool, 'out');
  isReady = false;
  await out;
  const back = stateOf(pool, 'ready');
  isReady = true;
  await back;
});
