import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { startEmbeddedGuard } from '../../../src/guard-server/embedded/embedded.ts';
import { promptInputs, TestClient } from '../../helpers/guards/guard-client.ts';

it('serves from a thread of its own until it is closed', async () => {
  const guard = await startEmbeddedGuard({ model: 'synthetic', synthetic: { serviceTime: 'zero' } });
  expect(guard.address).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+$/);
  const client = new TestClient(guard.address);
  const { token } = guard;
  expect((await client.infer({ tensors: promptInputs(['a', 'b']) }, { token })).outputs).toHaveLength(5);
  await Promise.all([guard.close(), guard.close()]);
  await expect(client.call('ServerLive', {})).rejects.toThrow();
  client.close();
  expect(await Promise.race([guard.failed, Promise.resolve('closed in peace')])).toBe('closed in peace');
});

it('answers nobody without the token of this very guard', async () => {
  const start = () => startEmbeddedGuard({ model: 'synthetic' });
  const [guard, other] = await Promise.all([start(), start()]);
  expect(guard.token).toMatch(/^[0-9a-f]{64}$/);
  const client = new TestClient(guard.address);
  for (const options of [{}, { token: '' }, { token: other.token }]) {
    await expect(client.call('ServerLive', {}, options)).rejects.toMatchObject({ code: 16 });
    await expect(client.infer({ tensors: promptInputs(['a']) }, options)).rejects.toMatchObject({ code: 16 });
  }
  expect(await client.call('ServerLive', {}, { token: guard.token })).toEqual({ live: true });
  client.close();
  await Promise.all([guard.close(), other.close()]);
});

it('rejects when the thread cannot start', async () => {
  const faults = [{ kind: 'nonsense' } as never];
  const started = startEmbeddedGuard({ model: 'synthetic', synthetic: { faults } });
  await expect(started).rejects.toMatchObject({ name: 'Failure', kind: 'internal' });
});

it('tells when the thread dies', async () => {
  let thread: Worker | undefined;
  const seen = (message: unknown): void => void (thread = (message as { worker: Worker }).worker);
  subscribe('worker_threads', seen);
  const guard = await startEmbeddedGuard({ model: 'synthetic' });
  unsubscribe('worker_threads', seen);
  await thread!.terminate();
  expect(await guard.failed).toMatchObject({ name: 'Failure', kind: 'internal' });
  await guard.close();
});
