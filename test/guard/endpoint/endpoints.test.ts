import { expect, test } from 'vitest';
import { freePort } from '../../helpers/free-port.ts';
import {
  connect,
  guard,
  judge,
  prompts,
  refusalOf,
  stateOf,
  verdict,
} from '../../helpers/guards/guard-pool.ts';

test('no guard within the start timeout is one clear line', async () => {
  const address = `grpc://127.0.0.1:${await freePort()}`;
  expect(await refusalOf([{ address }], { startTimeoutMs: 1000 })).toBe(
    `no guard became usable within 1 s: ${address}: no connection`,
  );
});

test('starts with the guards that are ready, and uses the others once they have loaded their model', async () => {
  const port = await freePort();
  const server = await guard();
  const pool = await connect([server, { address: `grpc://127.0.0.1:${port}` }], { startTimeoutMs: 1000 });
  expect(pool.status().map(({ state }) => state.name)).toEqual(['ready', 'out']);
  const joined = stateOf(pool, 'ready', `grpc://127.0.0.1:${port}`);
  let asked = 0;
  const late = await guard({
    port,
    config: (config) => (asked++ === 0 ? { ...config, output: [] } : config),
  });
  await joined;
  expect(asked).toBe(2);
  await Promise.all([judge(pool, prompts(64)), judge(pool, prompts(64))]);
  expect(late.seen.length).toBeGreaterThan(0);
});

test('the token of an endpoint is sent as a bearer token (C-505)', async () => {
  const server = await guard();
  const pool = await connect([server], { token: ({ name }) => (name === server.address ? 'secret' : null) });
  (await judge(pool, prompts(1))).map(verdict);
  expect(server.seen[0]!.authorization).toBe('Bearer secret');
});

test('a pool that does not wait for guards starts before any is ready, and requests wait for one', async () => {
  const port = await freePort();
  const address = `grpc://127.0.0.1:${port}`;
  const pool = await connect([{ address }], { maxWaitMs: null, waitsForGuards: false });
  expect(pool.status()).toMatchObject([{ name: address, state: { name: 'out' } }]);
  const stream = { prompt: 'say it', cadenceChunks: 1, signal: new AbortController().signal };
  await expect(pool.openStream(stream as never)).rejects.toMatchObject({ status: 'UNAVAILABLE' });
  const judged = judge(pool, prompts(3));
  await guard({ port });
  expect(await judged).toHaveLength(3);
});
