import type { AppSite } from '../../http/app.ts';
import { type HttpServer, startHttpServer } from '../../http/http-server.ts';
import type { UpgradeHandler } from '../../http/upgrades.ts';
import { urlHost } from '../../http/url-host.ts';
import type { GuardAppOptions } from './guard-app.ts';

interface HttpListenerOptions extends Omit<GuardAppOptions, 'isExiting'> {
  readonly host: string;
  /** Required of every request; null: no token is required. */
  readonly token: string | null;
  /** How long `close` waits for open requests. */
  readonly closeGraceMs: number;
  /** Takes WebSocket handshakes. */
  readonly upgrade: UpgradeHandler;
}

/** Serves the guard over HTTP on a port, which it can release and bind again. */
export class HttpListener {
  readonly #options: HttpListenerOptions;
  #site: AppSite | null = null;
  #server: HttpServer | null = null;
  #isExiting = false;

  constructor(options: HttpListenerOptions) {
    this.#options = options;
  }

  /** Binds a port, 0 for a free one, and returns it. Failure('usage') when it cannot be bound. */
  async open(port: number): Promise<number> {
    const { host, token, limits, closeGraceMs, upgrade } = this.#options;
    // It takes 0.1 s to load, which runs with the embedded guard have no use for.
    const { openGuardApp } = await import('./guard-app.ts');
    this.#site ??= await openGuardApp({ ...this.#options, isExiting: () => this.#isExiting });
    this.#server = await startHttpServer({
      ...this.#site,
      what: 'the guard',
      host,
      port,
      token,
      limits: {
        maxConnections: limits.connections,
        maxBodyBytes: limits.bodyBytes,
        headersTimeoutMs: limits.firstCallMs,
        requestTimeoutMs: limits.messageTimeoutMs,
        keepAliveMs: limits.idleMs,
        closeGraceMs,
      },
      upgrade,
    });
    const { port: bound } = new URL(this.#server.origin);
    // Closed meanwhile, as a scripted outage may listen again at any time.
    if (this.#isExiting) this.drop();
    return Number(bound);
  }

  /** `http://host:port`. */
  address(port: number): string {
    return `http://${urlHost(this.#options.host)}:${port}`;
  }

  /** Answers new requests with 503 and waits for the open ones. */
  async close(): Promise<void> {
    this.#isExiting = true;
    await this.#server?.close();
  }

  /** Drops every connection and stops listening at once. */
  drop(): void {
    this.#server?.drop();
    this.#server = null;
  }
}
