import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { Failure } from '../domain/failure.ts';
import { loadService } from '../guard/tensors/protocol.ts';

/** Binds the service to a port, and can let go of it and take it again. */
export class Listener {
  readonly #service = loadService();
  readonly #handlers: UntypedServiceImplementation;
  readonly #host: string;
  #server: Server | null = null;

  constructor(handlers: UntypedServiceImplementation, host: string) {
    this.#handlers = handlers;
    this.#host = host.includes(':') ? `[${host}]` : host;
  }

  /** Listens on a port, 0 for a free one, and returns which. Failure('usage') when it cannot be had. */
  async open(port: number): Promise<number> {
    const server = new Server({
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
    });
    server.addService(this.#service, this.#handlers);
    this.#server = server;
    try {
      return await new Promise<number>((resolve, reject) => {
        server.bindAsync(`${this.#host}:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
          error === null ? resolve(bound) : reject(error),
        );
      });
    } catch (cause) {
      this.drop();
      throw new Failure('usage', `cannot listen on ${this.#host}:${port}: is the port taken?`, { cause });
    }
  }

  /** `grpc://host:port`. */
  address(port: number): string {
    return `grpc://${this.#host}:${port}`;
  }

  /** Takes no new call and waits for the open ones, for at most `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
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
}
