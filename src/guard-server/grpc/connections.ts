import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface ConnectionOptions {
  /** Further connections are closed on arrival. */
  readonly maxConnections: number;
  /** Until the first admitted call of a new connection. */
  readonly firstCallMs: number;
  readonly handle: (socket: Socket) => void;
}

/**
 * Refused calls after which a connection without an admitted call is closed. Node frees a call's memory only when its
 * connection closes: 43 KB measured for a call with 30 KB of headers.
 */
const MAX_REFUSED = 16;

/** A connection without an admitted call. */
interface Unproven {
  readonly socket: Socket;
  readonly timer: NodeJS.Timeout;
  refused: number;
}

/** Listens and tracks connections: limits their number, and closes those without an admitted call. */
export class Connections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** By remote address and port. */
  readonly #unproven = new Map<string, Unproven>();

  constructor({ maxConnections, firstCallMs, handle }: ConnectionOptions) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      const key = keyOf(socket.remoteAddress, socket.remotePort);
      this.#sockets.add(socket);
      const timer = setTimeout(() => socket.destroy(), firstCallMs);
      this.#unproven.set(key, { socket, timer, refused: 0 });
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.#settle(key);
      });
      // Calls get the error from their streams.
      socket.on('error', () => {});
      handle(socket);
    });
    this.#server.maxConnections = maxConnections;
  }

  /** Resolves with the port; 0: a free one. Rejects with Node's error when it cannot be bound. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  /** A call was admitted on the connection from this address and port. */
  proven(remoteAddress: string | undefined, remotePort: number | undefined): void {
    this.#settle(keyOf(remoteAddress, remotePort));
  }

  /** A call was refused on the connection from this address and port. */
  refused(remoteAddress: string | undefined, remotePort: number | undefined): void {
    const unproven = this.#unproven.get(keyOf(remoteAddress, remotePort));
    if (unproven === undefined) return;
    unproven.refused++;
    // Deferred: within a call's callback Node's HTTP/2 session is reading from the socket and would crash.
    if (unproven.refused === MAX_REFUSED) setImmediate(() => unproven.socket.destroy());
  }

  /** Accepts no more connections. */
  stopListening(): void {
    this.#server.close();
  }

  /** Accepts no more connections and drops the open ones. */
  drop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #settle(key: string): void {
    clearTimeout(this.#unproven.get(key)?.timer);
    this.#unproven.delete(key);
  }
}

function keyOf(address: string | undefined, port: number | undefined): string {
  return `${address} ${port}`;
}
