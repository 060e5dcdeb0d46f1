import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface ConnectionOptions {
  /** At a time; more are closed as they come. */
  readonly most: number;
  /** How long a new connection may go without a call that is let in, in milliseconds. */
  readonly firstCallMs: number;
  readonly handle: (socket: Socket) => void;
}

/**
 * Calls that may be refused on a connection before one is let in. While a connection is open, Node keeps something of
 * every call it had: 43 KB of one with 30 KB of headers were measured.
 */
const MAX_REFUSED = 16;

/** A connection without a call that was let in. */
interface Unproven {
  readonly socket: Socket;
  readonly timer: NodeJS.Timeout;
  refused: number;
}

/** Listens, and holds the connections: a bounded number, none of which may just be there. */
export class Connections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** By where they come from. */
  readonly #unproven = new Map<string, Unproven>();

  constructor({ most, firstCallMs, handle }: ConnectionOptions) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      const key = keyOf(socket.remoteAddress, socket.remotePort);
      this.#sockets.add(socket);
      const timer = setTimeout(() => socket.destroy(), firstCallMs);
      this.#unproven.set(key, { socket, timer, refused: 0 });
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.#settle(key);
      });
      // What it means for calls, their streams tell.
      socket.on('error', () => {});
      handle(socket);
    });
    this.#server.maxConnections = most;
  }

  /** Resolves with the port, which for 0 is a free one. Rejects with Node's error when it cannot be had. */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  /** A call on the connection from there was let in. */
  proven(remoteAddress: string | undefined, remotePort: number | undefined): void {
    this.#settle(keyOf(remoteAddress, remotePort));
  }

  /** A call on the connection from there was refused. */
  refused(remoteAddress: string | undefined, remotePort: number | undefined): void {
    const unproven = this.#unproven.get(keyOf(remoteAddress, remotePort));
    if (unproven === undefined) return;
    unproven.refused++;
    // Not within the callback of a call: Node's HTTP/2 session, which is reading from the socket, would crash.
    if (unproven.refused === MAX_REFUSED) setImmediate(() => unproven.socket.destroy());
  }

  /** Takes no more connections. */
  stopListening(): void {
    this.#server.close();
  }

  /** Takes no more connections, and drops those that there are. */
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
