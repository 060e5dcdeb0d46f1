import { expect, test } from 'vitest';
import type { GuardRequest } from '../../src/domain/request.ts';
import {
  closeAfterEach,
  connect,
  conversation,
  failure,
  guard,
  image,
  judge,
  prompt,
  prompts,
  response,
  restGuard,
  stateOf,
  verdict,
} from '../helpers/guards/guard-pool.ts';
import { fingerprintIdOf } from '../helpers/guards/scripted-guard.ts';

closeAfterEach();

const RESPONSE = response(null, 'r');

test('guards of both kinds share the work, and each verdict has the fields its guard reports', async () => {
  const grpc = await guard();
  const rest = await restGuard();
  const pool = await connect([grpc, rest]);
  const outcomes = (await Promise.all(prompts(400).map((request) => judge(pool, [request])))).flat();
  const by = (address: string) => outcomes.map(verdict).filter(({ endpoint }) => endpoint === address);
  expect(by(grpc.address).length).toBeGreaterThan(0);
  expect(by(rest.address).length).toBeGreaterThan(0);
  expect(new Set(by(grpc.address).map(({ fingerprint }) => fingerprint))).toEqual(
    new Set([fingerprintIdOf('model-a')]),
  );
  expect(new Set(by(rest.address).map(({ fingerprint }) => fingerprint))).toEqual(new Set([null]));
});

test('of two guards of different kinds one dies: its work moves to the other', async () => {
  const rest = await restGuard({
    script: ({ harmless, number }) => {
      if (!harmless && number >= 3) rest.kill();
    },
  });
  const grpc = await guard();
  const pool = await connect([rest, grpc]);
  const outcomes = (await Promise.all([judge(pool, prompts(200)), judge(pool, prompts(200))])).flat();
  for (const outcome of outcomes) expect(verdict(outcome).attempts).toBe(1);
  expect(pool.status().map(({ state }) => state.name)).toEqual(['out', 'ready']);
});

test('each kind of request goes to a guard that takes it', async () => {
  const texts = await guard({
    config: (config) => ({ ...config, input: config.input.filter(({ name }) => name !== 'IMAGE') }),
  });
  const rest = await restGuard();
  const pool = await connect([texts, rest]);
  const outcomes = await judge(pool, [RESPONSE, image('i'), RESPONSE, image('j')]);
  expect(outcomes.map((outcome) => verdict(outcome).endpoint)).toEqual([
    texts.address,
    rest.address,
    texts.address,
    rest.address,
  ]);
  const alone = await judge(await connect([texts]), [image('i'), prompt('a')]);
  expect(failure(alone[0])).toMatchObject({
    error: { code: 'PROBE_NOT_LOADED', message: 'none of the guards takes images' },
  });
  verdict(alone[1]);
});

test('tasks that only a guard which is out takes wait for it, while the other judges', async () => {
  const first = await guard();
  const rest = await restGuard();
  const pool = await connect([first, rest]);
  const out = stateOf(pool, 'out', first.address);
  first.kill();
  // Notices that the guard is gone.
  const noticed = judge(pool, [RESPONSE]);
  await out;
  (await judge(pool, prompts(10))).map(verdict);
  await guard({ port: first.port });
  expect(verdict((await noticed)[0])).toMatchObject({ endpoint: first.address, attempts: 1 });
});

test('tasks that only a guard which stays out takes end the run after maxWaitMs, though the other judges', async () => {
  const grpc = await guard();
  const rest = await restGuard();
  const pool = await connect([grpc, rest], { maxWaitMs: 400 });
  grpc.kill();
  const waiting = judge(pool, [RESPONSE]);
  const rejected = expect(waiting).rejects.toMatchObject({
    kind: 'service',
    message: expect.stringContaining(grpc.address) as string,
  });
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

test('a backlog for one guard does not starve another', async () => {
  const grpc = await guard({
    script: ({ type, cancelled }) => (type === 'multiturn' ? cancelled : undefined),
  });
  const rest = await restGuard();
  const pool = await connect([grpc, rest]);
  const chat = conversation([['user', 'hello']]);
  const controller = new AbortController();
  const stuck = Array.from({ length: 10 }, () =>
    pool.judge(new Array<GuardRequest>(512).fill(chat), { session: 's', signal: controller.signal }),
  );
  for (const outcome of await judge(pool, prompts(300))) verdict(outcome);
  controller.abort(new Error('enough'));
  await Promise.allSettled(stuck);
});
