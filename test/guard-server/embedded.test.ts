import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import type * as Embedded from '../../src/guard-server/embedded.ts';
import { promptInputs, TestClient } from '../helpers/guard-client.ts';

/** A thread runs compiled code only, so this is tested as it is built. */
const built = new URL('../../dist/src/guard-server/embedded.js', import.meta.url).href;
const { startEmbeddedGuard } = (await import(/* @vite-ignore */ built)) as typeof Embedded;

it('serves from a thread of its own until it is closed', async () => {
  const guard = await startEmbeddedGuard({ model: 'synthetic', synthetic: { serviceTime: 'zero' } });
  expect(guard.address).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+$/);
  const client = new TestClient(guard.address);
  expect((await client.infer({ tensors: promptInputs(['a', 'b']) })).outputs).toHaveLength(5);
  await Promise.all([guard.close(), guard.close()]);
  await expect(client.call('ServerLive', {})).rejects.toThrow();
  client.close();
  expect(await Promise.race([guard.failed, Promise.resolve('closed in peace')])).toBe('closed in peace');
});

it('rejects when the thread cannot start', async () => {
  const faults = [{ kind: 'nonsense' } as never];
  await expect(startEmbeddedGuard({ model: 'synthetic', synthetic: { faults } })).rejects.toMatchObject({
    name: 'Failure',
    kind: 'internal',
  });
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
