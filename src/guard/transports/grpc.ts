import type { ServiceDefinition } from '@grpc/grpc-js';
import {
  type KserveCalls,
  MAX_CONFIG_REPLY_BYTES,
  MAX_READINESS_REPLY_BYTES,
} from '../kserve/kserve-calls.ts';
import { openGuard } from '../kserve/open-guard.ts';
import { UnimplementedCall } from '../protocol/call-error.ts';
import type { Connection, Credentials } from '../protocol/connection.ts';
import { MODEL_NAME } from '../tensors/protocol.ts';
import { GuardChannel } from '../triton/channel.ts';
import { expandEndpoint, type GuardAddress, parseAddress } from '../triton/grpc-address.ts';
import type { Transport } from './transport.ts';

/** Triton or another server, over the KServe v2 protocol with gRPC. */
export const GRPC: Transport = {
  kind: 'triton',
  schemes: ['grpc', 'grpcs'],
  tokenVariable: 'GUARD_TOKEN',
  unversioned: null,
  takes: () => true,
  hostOf: (endpoint) => {
    const { serverName, secure, loopback } = parseAddress(endpoint);
    return { host: serverName, secure, loopback };
  },
  connector: (endpoint) => {
    const address = parseAddress(endpoint);
    return (credentials) => connectGrpc(address, credentials);
  },
  servers: async (endpoint, lookup) =>
    (await expandEndpoint(endpoint, lookup)).map(({ name, address }) => ({
      name,
      connect: (credentials) => connectGrpc(address, credentials),
    })),
};

/** Does not connect before `open`. `service` is the service definition, which tests replace. */
function connectGrpc(
  address: GuardAddress,
  credentials: Credentials,
  service?: ServiceDefinition,
): Connection {
  const channel = new GuardChannel(address, credentials, service);
  return {
    open: (options) => openGuard(grpcCalls(channel), options),
    close: () => channel.close(),
  };
}
/** The calls of the KServe v2 protocol over gRPC. */
function grpcCalls(channel: GuardChannel): KserveCalls {
  const model = { name: MODEL_NAME };
  return {
    metadataCall: 'ModelMetadata',
    serverReady: async (options) =>
      (await channel.call('ServerReady', {}, MAX_READINESS_REPLY_BYTES, options)).ready,
    modelReady: async (options) =>
      (await channel.call('ModelReady', model, MAX_READINESS_REPLY_BYTES, options)).ready,
    modelConfig: async (options) => {
      try {
        return (await channel.call('ModelConfig', model, MAX_CONFIG_REPLY_BYTES, options)).config;
      } catch (error) {
        if (error instanceof UnimplementedCall) return null;
        throw error;
      }
    },
    modelMetadata: (options) => channel.call('ModelMetadata', model, MAX_CONFIG_REPLY_BYTES, options),
    stream: (layout, events) => channel.stream(layout, events),
    infer: (request, maxReplyBytes, options) => channel.call('ModelInfer', request, maxReplyBytes, options),
  };
}
