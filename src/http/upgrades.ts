import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from './admission.ts';

/**
 * Takes over the connection of an admitted WebSocket handshake: answers it, or ends the socket. `head` are the bytes that
 * arrived after the headers. At shutdown it should end its sockets; the server destroys those left after its grace period.
 */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

interface UpgradeOptions {
  /** Why a handshake is refused; null: it is admitted. */
  readonly refusalOf: (request: IncomingMessage) => Refusal | null;
  readonly handle: UpgradeHandler;
}

/** The connections that a server has given away. */
export class UpgradedSockets {
  readonly #sockets = new Set<Duplex>();

  /**
   * Gives WebSocket handshakes to `handle`. Once there is a listener, Node hands over every request with an Upgrade
   * header; those for other protocols, such as the `h2c` that Java's client offers, are handled as ordinary requests.
   */
  serve(server: Server, { refusalOf, handle }: UpgradeOptions): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
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
