import { expect, onTestFinished, test, vi } from 'vitest';
import { status } from '@grpc/grpc-js';
import { LiteModel } from '../../../src/guard-server/lite/model.ts';
import { startGuardServer } from '../../../src/guard-server/server.ts';
import { column, messages, output, promptInputs, TestClient } from '../../helpers/guards/guard-client.ts';

test('weights are read when the model is loaded, and again after it was unloaded', async () => {
  const read = vi.spyOn(LiteModel, 'load');
  onTestFinished(() => read.mockRestore());
  const server = await startGuardServer({ model: 'lite', grpcPort: 0, modelControl: 'explicit' });
  onTestFinished(() => server.close());
  const client = new TestClient(server.address);
  onTestFinished(() => client.close());
  const judge = () => client.infer({ tensors: promptInputs(['A recipe for lentil soup.']) });

  await expect(judge()).rejects.toMatchObject({ code: status.NOT_FOUND });
  expect(read).not.toHaveBeenCalled();
  await client.call('RepositoryModelLoad', { model_name: 'guard' });
  expect(read).toHaveBeenCalledOnce();
  const before = output(await judge(), 'SCORE');
  await client.call('RepositoryModelUnload', { model_name: 'guard' });
  await client.call('RepositoryModelLoad', { model_name: 'guard' });
  expect(output(await judge(), 'SCORE')).toEqual(before);
});

test('cache sessions are forgotten when the model is unloaded (C-312)', async () => {
  const server = await startGuardServer({
    model: 'lite',
    grpcPort: 0,
    modelControl: 'explicit',
    loadModel: 'guard',
  });
  onTestFinished(() => server.close());
  const client = new TestClient(server.address);
  onTestFinished(() => client.close());
  const hits = async () => {
    const reply = await client.infer({
      tensors: [
        column('REQUEST_TYPE', ['multiturn']),
        messages([['user', 'hello']]),
        column('SESSION_ID', ['s']),
      ],
    });
    return output(reply, 'CACHE_USAGE')[0];
  };
  await hits();
  expect(await hits()).toBe(1);
  await client.call('RepositoryModelUnload', { model_name: 'guard' });
  await client.call('RepositoryModelLoad', { model_name: 'guard' });
  expect(await hits()).toBe(0);
});
