import { expect, onTestFinished, test } from 'vitest';
import { startGuardServer } from '../../../src/guard-server/server.ts';
import { column, messages, output, TestClient } from '../../helpers/guards/guard-client.ts';

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
