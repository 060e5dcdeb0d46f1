import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import {
  connect,
  expectToOutlast,
  guard,
  judge,
  kserveHttpServer,
  kserveServer,
  restGuard,
  socketServer,
  stateOf,
} from '../helpers/guards/guard-pool.ts';
import { failure, verdict } from '../helpers/guards/outcomes.ts';
import { conversation, image, prompt, prompts, response } from '../helpers/guards/requests.ts';
import { fingerprintIdOf, type ScriptedGuard } from '../helpers/guards/scripted-guard.ts';

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
  let second: ScriptedGuard;
  await expectToOutlast(pool, turns, async () => (second = await guard({ port: dying.port })));
  const chats = second!.seen.filter(({ type }) => type === 'multiturn');
  const counts = chats.map(({ shapes }) => shapes['MESSAGES']![1]!);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts.at(-1)).toBe(4);
});

test('permanent overload is an outage', async () => {
  const overloaded = { code: status.UNAVAILABLE, details: 'Exceeds maximum queue size' };
  const pool = await connect([await guard({ script: () => overloaded })], { maxWaitMs: 300 });
  await expect(judge(pool, prompts(3))).rejects.toMatchObject({ kind: 'service' });
});

test('an idle guard of any kind that is killed is out without any request', async () => {
  const kinds = { guard, kserveServer, kserveHttpServer, restGuard, socketServer };
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

const RESPONSE = response(null, 'r');

test('guards of both kinds share the work, and each verdict has the fields its guard reports', async () => {
  const grpc = await guard();
  const rest = await restGuard();
  const pool = await connect([grpc, rest]);
  const outcomes = (await Promise.all(prompts(400).map((request) => judge(pool, [request])))).flat();
  const by = (address: string) => outcomes.map(verdict).filter(({ endpoint }) => endpoint === address);
  const fingerprintsOf = (address: string) => new Set(by(address).map(({ fingerprint }) => fingerprint));
  expect(fingerprintsOf(grpc.address)).toEqual(new Set([fingerprintIdOf('model-a')]));
  expect(fingerprintsOf(rest.address)).toEqual(new Set([null]));
});

test('each kind of request goes to a guard that takes it', async () => {
  const texts = await guard({
    config: (config) => ({ ...config, input: config.input.filter(({ name }) => name !== 'IMAGE') }),
  });
  const rest = await restGuard();
  const pool = await connect([texts, rest]);
  const outcomes = await judge(pool, [RESPONSE, image('i'), RESPONSE, image('j')]);
  const pair = [texts.address, rest.address];
  expect(outcomes.map((outcome) => verdict(outcome).endpoint)).toEqual([...pair, ...pair]);
  const alone = await judge(await connect([texts]), [image('i'), prompt('a')]);
  expect(failure(alone[0]).error.code).toBe('PROBE_NOT_LOADED');
  verdict(alone[1]);
});

test('tasks that only a guard which stays out takes end the run after maxWaitMs, though the other judges', async () => {
  const grpc = await guard();
  const rest = await restGuard();
  const pool = await connect([grpc, rest], { maxWaitMs: 400 });
  grpc.kill();
  const waiting = judge(pool, [RESPONSE]);
  const rejected = expect(waiting).rejects.toMatchObject({ kind: 'service' });
  let over = false;
  void rejected.then(() => (over = true));
  while (!over) await judge(pool, prompts(5)).catch(() => {});
  await rejected;
});

test('requests go to their preferred endpoint as long as it is in use', async () => {
  const guards = [await restGuard(), await restGuard()] as const;
  const pool = await connect(guards);
  const at = (endpoint: string) =>
    pool.judge(prompts(20), { session: 's', signal: new AbortController().signal, endpoint });
  for (const { address } of guards) {
    for (const outcome of await at(address)) expect(verdict(outcome).endpoint).toBe(address);
  }
  guards[1].kill();
  for (const outcome of await at(guards[1].address))
    expect(verdict(outcome).endpoint).toBe(guards[0].address);
});
