import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes any more, and neither side is told. */
  silent: boolean;
}

/** A way to Redis that can be cut: one process's connections go through it. */
export class RedisProxy {
  readonly #listener: Server;
  readonly #pairs = new Set<Pair>();

  private constructor(socketPath: string) {
    this.#listener = createServer((client) => this.#join(client, connect(socketPath)));
  }

  /** In front of a server's Unix socket; closed when the test is over. */
  static async start(socketPath: string): Promise<RedisProxy> {
    const proxy = new RedisProxy(socketPath);
    proxy.#listener.listen(0, '127.0.0.1');
    await once(proxy.#listener, 'listening');
    onTestFinished(() => {
      proxy.reset();
      proxy.#listener.close();
    });
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#listener.address() as { port: number }).port}`;
  }

  /** Resets every connection. */
  reset(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Loses every byte of the connections there are, from now on; new ones work. */
  silence(): void {
    for (const pair of this.#pairs) pair.silent = true;
  }

  #join(client: Socket, server: Socket): void {
    const pair: Pair = { client, server, silent: false };
    this.#pairs.add(pair);
    const end = (): void => {
      if (pair.silent && !client.destroyed) return;
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    const pass = (from: Socket, to: Socket): void => {
      from.on('data', (bytes) => {
        if (pair.silent) return;
        if (to.write(bytes)) return;
        from.pause();
        to.once('drain', () => from.resume());
      });
      // How a connection ends is the business of who uses it.
      from.on('error', () => {});
      from.on('close', end);
    };
    pass(client, server);
    pass(server, client);
  }
}
