import { beforeEach, describe, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import type { GuardServer, GuardServerOptions } from '../../../src/guard-server/server.ts';
import { promptInputs, type TestClient } from '../../helpers/guards/guard-client.ts';
import { guardForTest } from '../../helpers/guards/shared-guard.ts';

let server: GuardServer;
let client: TestClient;

const start = async (options: Partial<GuardServerOptions>): Promise<void> =>
  void ({ server, client } = await guardForTest(options));

const judge = () => client.infer({ tensors: promptInputs(['a']) });
const load = () => client.call('RepositoryModelLoad', { model_name: 'guard' });
const unload = () => client.call('RepositoryModelUnload', { model_name: 'guard' });
const index = async (request: object = {}): Promise<readonly object[]> =>
  (await client.call<{ models: object[] }>('RepositoryIndex', request)).models;

describe('model control explicit', () => {
  beforeEach(() => start({ modelControl: 'explicit' }));

  it('serves no model until it is loaded', async () => {
    expect(await client.call('ServerReady', {})).toEqual({ ready: true });
    expect(await client.call('ModelReady', { name: 'guard' })).toEqual({ ready: false });
    await expect(judge()).rejects.toMatchObject({ code: status.NOT_FOUND });
    expect(await index()).toEqual([{ name: 'guard', version: '', state: '', reason: '' }]);
    expect(await index({ ready: true })).toEqual([]);

    await load();
    expect(await client.call('ModelReady', { name: 'guard', version: '1' })).toEqual({ ready: true });
    const entry = { name: 'guard', version: '1', state: 'READY', reason: '' };
    expect(await index({ ready: true })).toEqual([entry]);
    expect((await judge()).outputs).toHaveLength(5);
  });

  it('unloads after the requests that run, refuses others meanwhile, and loads again', async () => {
    await load();
    const control = server.synthetic!;
    control.pause();
    const running = judge();
    await expect.poll(() => control.counts.executions).toBe(1);
    const unloaded = unload();
    await expect.poll(() => index()).toMatchObject([{ state: 'UNLOADING' }]);
    expect(await client.call('ServerReady', {})).toEqual({ ready: false });
    await expect(judge()).rejects.toMatchObject({ code: status.UNAVAILABLE });
    control.resume();
    expect((await running).outputs).toHaveLength(5);
    await unloaded;

    expect(await client.call('ServerReady', {})).toEqual({ ready: true });
    expect(await index({ ready: true })).toEqual([]);
    await expect(judge()).rejects.toMatchObject({ code: status.NOT_FOUND });
    await load();
    expect((await judge()).outputs).toHaveLength(5);
  });
});

it('loads the model named at the start (C-109)', async () => {
  await start({ modelControl: 'explicit', loadModel: 'guard' });
  expect((await judge()).outputs).toHaveLength(5);
});

it('loads and unloads nothing with model control none', async () => {
  await start({ modelControl: 'none' });
  for (const call of [load, unload]) {
    await expect(call()).rejects.toMatchObject({ code: status.UNAVAILABLE });
  }
  expect(await index()).toEqual([{ name: 'guard', version: '1', state: 'READY', reason: '' }]);
});
