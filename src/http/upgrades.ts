import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from './admission.ts';

/**
 * Takes over the connection of an admitted WebSocket handshake: answers it, or ends the socket. `head` has the bytes
 * that arrived after the headers. At shutdown it should end its sockets; the server destroys those left after its grace
 * period.
 */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

interface UpgradeOptions {
  /** The reason to reject a handshake; null to admit it. */
  readonly refusalOf: (request: IncomingMessage) => Refusal | null;
  readonly handle: UpgradeHandler;
}

/** The connections that a server has handed over. */
export class UpgradedSockets {
  readonly #sockets = new Set<Duplex>();
  /** Unfinished responses of each connection. */
  readonly #open = new WeakMap<Duplex, Set<ServerResponse>>();

  /**
   * Passes WebSocket handshakes to `handle`. Once there is a listener, Node hands over every request with an Upgrade
   * header; those for other protocols, such as the `h2c` that Java's client offers, are handled as ordinary requests.
   */
  serve(server: Server, { refusalOf, handle }: UpgradeOptions): void {
    const track = ({ socket }: IncomingMessage, response: ServerResponse): void => {
      const open = this.#open.get(socket) ?? new Set();
      this.#open.set(socket, open.add(response));
      response.once('close', () => open.delete(response));
    };
    server.on('request', track);
    server.on('checkContinue', track);
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const open = [...(this.#open.get(socket) ?? [])];
      if (open.length > 0) {
        abandon(socket, open);
        return;
      }
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
        socket.unshift(Buffer.concat([headersWithoutUpgrade(request), head]));
        server.emit('connection', socket);
        return;
      }
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      // A reset connection must not end the process.
      socket.on('error', () => {});
      const refusal = refusalOf(request);
      if (refusal === null) handle(request, socket, head);
      else refuse(socket, refusal);
    });
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/**
 * Ends a connection that requests an upgrade before its earlier requests are answered. TRAP: Node has forgotten the
 * responses that wait for their turn, and would never close them.
 */
function abandon(socket: Duplex, open: readonly ServerResponse[]): void {
  socket.on('error', () => {});
  socket.destroy();
  for (const response of open) {
    const isWaiting = response.socket === null;
    response.destroy();
    if (isWaiting) response.emit('close');
  }
}

function refuse(socket: Duplex, { status, headers, body }: Refusal): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`];
  for (const [name, value] of Object.entries({ ...headers, connection: 'close' }))
    lines.push(`${name}: ${String(value)}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** The request line and the headers as they arrived, without the offer to upgrade. */
function headersWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${rawHeaders[at + 1]!}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
