import { afterAll, expect, it } from 'vitest';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { loadProtoService } from '../../../src/guard/tensors/proto-service.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

const { server, client: inference } = await sharedGuard({ token: 'opensesame', modelControl: 'explicit' });
const client = new Client(server.address.slice('grpc://'.length), credentials.createInsecure());
afterAll(() => client.close());

const { Check } = loadProtoService('health.proto', 'grpc.health.v1.Health');

function check(service: string, token = 'opensesame'): Promise<unknown> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const { path, requestSerialize, responseDeserialize } = Check!;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      { service },
      metadata,
      (error, reply) => {
        if (error === null) resolve(reply);
        else reject(error);
      },
    );
  });
}

it('tells whether the server is ready, and whether the model is loaded', async () => {
  for (const service of ['', 'inference.GRPCInferenceService']) {
    expect(await check(service)).toEqual({ status: 'SERVING' });
    server.synthetic!.setFaults([{ kind: 'down', how: 'not-ready' }]);
    expect(await check(service)).toEqual({ status: 'NOT_SERVING' });
    server.synthetic!.setFaults([]);
  }
  expect(await check('guard')).toEqual({ status: 'NOT_SERVING' });
  await inference.call('RepositoryModelLoad', { model_name: 'guard' }, { token: 'opensesame' });
  expect(await check('guard')).toEqual({ status: 'SERVING' });
});

it('knows no other service, and nobody without the token (C-505)', async () => {
  await expect(check('guards')).rejects.toMatchObject({ code: status.NOT_FOUND });
  await expect(check('', 'opensesam')).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
});
