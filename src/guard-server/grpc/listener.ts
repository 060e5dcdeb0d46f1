import { Server, ServerCredentials } from '@grpc/grpc-js';
import { Failure } from '../../domain/failure.ts';
import { urlHost } from '../../http/url-host.ts';
import { admission } from './admission.ts';
import type { CallMemory } from '../service/call-memory.ts';
import { Connections } from './connections.ts';
import type { ServedService } from './services.ts';
import type { NetworkLimits } from '../service/limits.ts';

interface ListenerOptions {
  readonly services: readonly ServedService[];
  readonly host: string;
  /** Required of every call; null: no token is required. */
  readonly token: string | null;
  readonly limits: NetworkLimits;
  readonly room: CallMemory;
  /** How long `close` waits for open calls. */
  readonly closeGraceMs: number;
}

interface Open {
  readonly server: Server;
  readonly connections: Connections;
}

/** Serves gRPC services on a port, which it can release and bind again. */
export class Listener {
  readonly #options: ListenerOptions;
  #open: Open | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Binds a port, 0 for a free one, and returns it. Failure('usage') when it cannot be bound. */
  async open(port: number): Promise<number> {
    const { host } = this.#options;
    const open = this.#serve();
    this.#open = open;
    try {
      return await open.connections.listen(port, host);
    } catch (cause) {
      this.drop();
      throw new Failure('usage', `cannot listen on ${this.#host}:${port}: is the port taken?`, { cause });
    }
  }

  /** `grpc://host:port`. */
  address(port: number): string {
    return `grpc://${this.#host}:${port}`;
  }

  /** Takes no new calls and waits for the open ones. */
  async close(): Promise<void> {
    const open = this.#open;
    if (open === null) return;
    open.connections.stopListening();
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.closeGraceMs);
      open.server.tryShutdown(() => resolve());
    });
    clearTimeout(timer);
    end(open);
    if (this.#open === open) this.#open = null;
  }

  /** Drops every connection and stops listening at once. */
  drop(): void {
    if (this.#open !== null) end(this.#open);
    this.#open = null;
  }

  /** A server that gets its connections injected, so that they are counted before it reads from them. */
  #serve(): Open {
    const { services, token, limits, room } = this.#options;
    const server = new Server({
      'grpc.max_receive_message_length': limits.messageBytes,
      'grpc.max_send_message_length': -1,
      'grpc.max_concurrent_streams': limits.callsPerConnection,
      'grpc.max_connection_idle_ms': limits.idleMs,
      interceptors: [
        admission({
          token,
          room,
          messageBytes: limits.messageBytes,
          messageTimeoutMs: limits.messageTimeoutMs,
          admitted: (address, port) => connections.proven(address, port),
          refused: (address, port) => connections.refused(address, port),
        }),
      ],
    });
    for (const { definition, handlers } of services) server.addService(definition, handlers);
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const connections = new Connections({
      maxConnections: limits.connections,
      firstCallMs: limits.firstCallMs,
      handle: (socket) => injector.injectConnection(socket),
    });
    return { server, connections };
  }

  get #host(): string {
    return urlHost(this.#options.host);
  }
}

function end({ server, connections }: Open): void {
  server.forceShutdown();
  connections.drop();
}
