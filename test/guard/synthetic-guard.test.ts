import { afterEach, expect, test } from 'vitest';
import { contentSha256 } from '../../src/domain/content-hash.ts';
import { type GuardServer, startGuardServer } from '../../src/guard-server/server.ts';
import { TestClient } from '../helpers/guards/guard-client.ts';
import { closeAfterEach, connect, failure, judge, prompts, verdict } from '../helpers/guards/guard-pool.ts';

closeAfterEach();
let server: GuardServer | null = null;
afterEach(() => server?.close());

test('every verdict names the version that judged its content', async () => {
  server = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: { serviceTime: 'zero', instances: 2, faults: [{ kind: 'swap-version', after: 500 }] },
  });
  const pool = await connect([server]);
  const control = server.synthetic!;
  const requests = prompts(3000);
  const shards = Array.from({ length: 12 }, (_, shard) => requests.slice(shard * 250, (shard + 1) * 250));
  const outcomes = (
    await Promise.all(
      shards.map(async (shard, index) => {
        const judged = await judge(pool, shard);
        if (index === 5) control.swapVersion();
        return judged;
      }),
    )
  ).flat();
  for (const [index, outcome] of outcomes.entries()) {
    const { fingerprint, attempts } = verdict(outcome);
    expect(control.fingerprintsOf(contentSha256(requests[index]!))).toContain(fingerprint);
    expect(attempts).toBe(1);
  }
  expect(pool.fingerprints.size).toBeGreaterThan(1);
});

test('a guard that stops listening in the middle costs time, not attempts', async () => {
  server = await startGuardServer({ model: 'synthetic', grpcPort: 0, synthetic: { serviceTime: 'zero' } });
  const pool = await connect([server]);
  const control = server.synthetic!;
  control.pause();
  const judged = judge(pool, prompts(1000));
  await expect.poll(() => control.waiting).toBeGreaterThan(0);
  const out = new Promise<void>((resolve) => {
    pool.onStateChange(([endpoint]) => {
      if (endpoint!.state.name === 'out') resolve();
    });
  });
  control.stopListening();
  await out;
  control.resume();
  await control.listenAgain();
  for (const outcome of await judged) expect(verdict(outcome).attempts).toBe(1);
});

test('an item that crashes every execution it is in fails alone', async () => {
  server = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: { serviceTime: 'zero', faults: [{ kind: 'crash', containing: 'text 99' }] },
  });
  const outcomes = await judge(await connect([server]), prompts(200));
  outcomes.forEach((outcome, index) => {
    if (index === 99)
      expect(failure(outcome)).toMatchObject({ error: { code: 'GUARD_INTERNAL' }, attempts: 5 });
    else expect(verdict(outcome).attempts).toBe(1);
  });
});

test('a model that is unloaded costs time, not attempts', async () => {
  server = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: { serviceTime: 'zero' },
    modelControl: 'explicit',
    loadModel: 'guard',
  });
  const pool = await connect([server]);
  const control = server.synthetic!;
  control.pause();
  const judged = judge(pool, prompts(1000));
  await expect.poll(() => control.waiting).toBeGreaterThan(0);
  const out = new Promise<void>((resolve) => {
    pool.onStateChange(([endpoint]) => {
      if (endpoint!.state.name === 'out') resolve();
    });
  });
  const client = new TestClient(server.address);
  const unloaded = client.call('RepositoryModelUnload', { model_name: 'guard' });
  await expect.poll(() => client.call('ServerReady', {})).toEqual({ ready: false });
  control.resume();
  await unloaded;
  await out;
  await client.call('RepositoryModelLoad', { model_name: 'guard' });
  client.close();
  for (const outcome of await judged) expect(verdict(outcome).attempts).toBe(1);
});
