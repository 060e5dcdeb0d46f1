import type { ServiceDefinition } from '@grpc/grpc-js';
import { openGuard } from '../kserve/open-guard.ts';
import type { GuardAddress } from '../protocol/address.ts';
import type { Connection, Credentials, OpenOptions, ReadyGuard } from '../protocol/connection.ts';
import { GuardChannel } from './channel.ts';
import { grpcCalls } from './grpc-calls.ts';

/** A guard behind Triton or another server, over the gRPC form of the KServe v2 protocol. */
export class TritonConnection implements Connection {
  readonly #channel: GuardChannel;

  /** Does not connect before `open`. */
  constructor(address: GuardAddress, service: ServiceDefinition, credentials: Credentials) {
    this.#channel = new GuardChannel(address, service, credentials);
  }

  open(options: OpenOptions): Promise<ReadyGuard> {
    return openGuard(grpcCalls(this.#channel), options);
  }

  close(): void {
    this.#channel.close();
  }
}
