import type { ServiceDefinition } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { parseAddress } from '../../../src/guard/triton/grpc-address.ts';
import { Endpoint } from '../../../src/guard/endpoint/endpoint.ts';
import type { InferResponse } from '../../../src/guard/tensors/protocol.ts';
import { loadService } from '../../../src/guard/tensors/service.ts';
import { TaskQueue } from '../../../src/guard/tasks/task-queue.ts';
import { connectGrpc } from '../../../src/guard/transports/grpc.ts';
import { closeAfterEach, guard } from '../../helpers/guards/guard-pool.ts';

closeAfterEach();

function endpointAt(address: string, service: ServiceDefinition = loadService()): Endpoint {
  return new Endpoint(
    {
      name: address,
      kind: 'triton',
      takes: () => true,
      connect: () => connectGrpc(parseAddress({ name: address, address }), { token: null, tls: {} }, service),
    },
    {
      requestTimeoutMs: 60_000,
      stampVerdicts: true,
      backlog: new TaskQueue(),
      isOneOfMany: () => false,
      askedFor: new Set(),
      modelCheck: null,
      modalities: new Set(),
    },
    {
      backlogTaken: () => {},
      ready: () => {},
      unusable: () => {},
      out: () => {},
      judged: () => {},
      approveModel: () => true,
      rejected: () => {},
      crashed: (error) => {
        throw error;
      },
    },
  );
}

test('an endpoint that is closed while it becomes ready is not put into use', async () => {
  const server = await guard();
  const service = loadService();
  const infer = service['ModelInfer']!;
  const closing: Promise<unknown>[] = [];
  // Reading the version reply is the last thing done before the endpoint is used.
  const deserialize = (bytes: Buffer): InferResponse => {
    const reply = infer.responseDeserialize(bytes) as InferResponse;
    return {
      ...reply,
      get model_version() {
        closing.push(endpoint.close());
        return reply.model_version;
      },
    };
  };
  const endpoint = endpointAt(server.address, {
    ...service,
    ModelInfer: { ...infer, responseDeserialize: deserialize },
  });
  await endpoint.start();
  await Promise.all(closing);
  expect(closing).toHaveLength(1);
  expect(endpoint.dispatcher).toBeNull();
  expect(endpoint.state.name).toBe('out');
});
