import type { Socket } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';

/**
 * Wraps credentials so that the connections made with them can be cut. Closing a gRPC client waits for the calls on its
 * connections; on a stuck one that never ends, and the socket would stay open for the life of the process.
 */
export class SeverableCredentials {
  readonly credentials: ChannelCredentials;
  readonly #sockets = new Set<Socket>();

  constructor(credentials: ChannelCredentials) {
    this.credentials = credentials;
    const create = credentials._createSecureConnector.bind(credentials);
    credentials._createSecureConnector = (...given) => {
      const connector = create(...given);
      return {
        connect: async (socket) => {
          const connected = await connector.connect(socket);
          this.#sockets.add(connected.socket);
          connected.socket.once('close', () => this.#sockets.delete(connected.socket));
          return connected;
        },
        waitForReady: () => connector.waitForReady(),
        getCallCredentials: () => connector.getCallCredentials(),
        destroy: () => connector.destroy(),
      };
    };
  }

  sever(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
