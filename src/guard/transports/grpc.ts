import type { ServiceDefinition } from '@grpc/grpc-js';
import { openGuard } from '../kserve/open-guard.ts';
import type { Connection, Credentials, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import { GuardChannel } from '../triton/channel.ts';
import { expandEndpoint, type GuardAddress, parseAddress } from '../triton/grpc-address.ts';
import { grpcCalls } from '../triton/grpc-calls.ts';
import type { Transport } from './transport.ts';

/** Triton or another server, over the gRPC form of the KServe v2 protocol. */
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
    return (credentials) => new GrpcConnection(address, credentials);
  },
  servers: async (endpoint, lookup) =>
    (await expandEndpoint(endpoint, lookup)).map(({ name, address }) => ({
      name,
      connect: (credentials) => new GrpcConnection(address, credentials),
    })),
};

export class GrpcConnection implements Connection {
  readonly #channel: GuardChannel;

  /** Does not connect before `open`. */
  constructor(address: GuardAddress, credentials: Credentials, service?: ServiceDefinition) {
    this.#channel = new GuardChannel(address, credentials, service);
  }

  open(options: OpenOptions): Promise<ReadyGuard> {
    return openGuard(grpcCalls(this.#channel), options);
  }

  close(): void {
    this.#channel.close();
  }
}
