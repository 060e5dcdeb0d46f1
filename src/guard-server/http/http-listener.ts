import type { AppSite } from '../../http/app.ts';
import { type HttpServer, startHttpServer } from '../../http/http-server.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
import type { UpgradeHandler } from '../../http/upgrades.ts';
import { urlHost } from '../../http/url-host.ts';
import type { GuardAppOptions } from './guard-app.ts';

interface HttpListenerOptions extends Omit<GuardAppOptions, 'isExiting'> {
  readonly host: string;
  /** Required of every request; null: no token is required. */
  readonly token: string | null;
  /** How long `close` waits for open requests. */
  readonly closeGraceMs: number;
  /** Take WebSocket handshakes. */
  readonly streams: ModerationStreams;
}

/** Serves the guard over HTTP on a port, which it can release and bind again. */
export class HttpListener {
  readonly #options: HttpListenerOptions;
  #site: AppSite | null = null;
  #upgrade: UpgradeHandler | null = null;
  #server: HttpServer | null = null;
  #isExiting = false;

  constructor(options: HttpListenerOptions) {
    this.#options = options;
  }

  /** Binds a port, 0 for a free one, and returns it. Failure('usage') when it cannot be bound. */
  async open(port: number): Promise<number> {
    const { host, token, limits, closeGraceMs, streams } = this.#options;
    // They take 0.1 s to load, and runs with the embedded guard have no use for them.
    const { openGuardApp } = await import('./guard-app.ts');
    const { responseStreams } = await import('../../http/streams/response-stream.ts');
    this.#upgrade ??= responseStreams(streams);
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
      upgrade: this.#upgrade,
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
