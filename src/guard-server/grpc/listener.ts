import { Server, ServerCredentials } from '@grpc/grpc-js';
import { Failure } from '../../domain/failure.ts';
import { loadProtoService } from '../../guard/tensors/proto-service.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
import { urlHost } from '../../http/url-host.ts';
import type { GuardService } from '../service/guard-service.ts';
import { checkAccess } from './access.ts';
import { healthService } from './health-service.ts';
import { inferenceDefinition, inferenceService } from './inference-service.ts';

interface ListenerOptions {
  readonly service: GuardService;
  readonly streams: ModerationStreams;
  readonly host: string;
  /** Required of every call, unless null. */
  readonly token: string | null;
  /** How long `close` waits for open calls. */
  readonly closeGraceMs: number;
}

/**
 * The longest valid message is 64 MiB of base64 (contents.ts); longer ones are rejected with a code of the contract.
 */
const MAX_MESSAGE_BYTES = 96 * 1024 * 1024;

/** Max concurrent calls per connection; further calls wait at the client. */
const MAX_CALLS = 1024;

/** Serves the guard over gRPC on a port, which it can release and bind again. */
export class Listener {
  readonly #options: ListenerOptions;
  #server: Server | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Binds a port, 0 for a free one, and returns it. Failure('usage') when it cannot be bound. */
  async open(port: number): Promise<number> {
    const { service, streams, token } = this.#options;
    const server = new Server({
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': -1,
      'grpc.max_concurrent_streams': MAX_CALLS,
      interceptors: [checkAccess(token)],
    });
    server.addService(inferenceDefinition(), inferenceService(service, streams));
    server.addService(loadProtoService('health.proto', 'grpc.health.v1.Health'), healthService(service));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.bindAsync(`${this.#host}:${port}`, ServerCredentials.createInsecure(), (cause, bound) => {
        if (cause === null) resolve(bound);
        else {
          const text = `cannot listen on ${this.#host}:${port}: is the port taken?`;
          reject(new Failure('usage', text, { cause }));
        }
      });
    });
  }

  /** `grpc://host:port`. */
  address(port: number): string {
    return `grpc://${this.#host}:${port}`;
  }

  /** Stops accepting calls and waits for the open ones. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.closeGraceMs);
      server.tryShutdown(() => resolve());
    });
    clearTimeout(timer);
    server.forceShutdown();
  }

  /** Drops every connection and stops listening at once. */
  drop(): void {
    this.#server?.forceShutdown();
    this.#server = null;
  }

  get #host(): string {
    return urlHost(this.#options.host);
  }
}
