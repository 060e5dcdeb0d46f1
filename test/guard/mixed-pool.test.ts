import { expect, test } from 'vitest';
import {
  closeAfterEach,
  connect,
  failure,
  guard,
  image,
  judge,
  prompt,
  prompts,
  response,
  restGuard,
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
