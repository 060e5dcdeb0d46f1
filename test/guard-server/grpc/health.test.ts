import { afterAll, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import { loadProtoService } from '../../../src/guard/tensors/proto-service.ts';
import { TestClient } from '../../helpers/guards/guard-client.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

const token = 'opensesame';
const { server, client: inference } = await sharedGuard({ token, modelControl: 'explicit' });
const client = new TestClient(server.address, loadProtoService('health.proto', 'grpc.health.v1.Health'));
afterAll(() => client.close());

const check = (service: string, options = { token }) => client.call('Check', { service }, options);

it('tells whether the server is ready, and whether the model is loaded', async () => {
  for (const service of ['', 'inference.GRPCInferenceService']) {
    expect(await check(service)).toEqual({ status: 'SERVING' });
    server.synthetic!.setFaults([{ kind: 'down', how: 'not-ready' }]);
    expect(await check(service)).toEqual({ status: 'NOT_SERVING' });
    server.synthetic!.setFaults([]);
  }
  expect(await check('guard')).toEqual({ status: 'NOT_SERVING' });
  await inference.call('RepositoryModelLoad', { model_name: 'guard' }, { token });
  expect(await check('guard')).toEqual({ status: 'SERVING' });
});

it('knows no other service, and nobody without the token (C-505)', async () => {
  await expect(check('guards')).rejects.toMatchObject({ code: status.NOT_FOUND });
  await expect(check('', { token: 'opensesam' })).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
});
