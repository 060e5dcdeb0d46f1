import type { AppSite } from '../../http/app.ts';
import { type HttpServer, startHttpServer } from '../../http/http-server.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
import type { UpgradeHandler } from '../../http/upgrades.ts';
import { urlHost } from '../../http/url-host.ts';
import type { GuardService } from '../service/guard-service.ts';
import { MAX_BODY_BYTES } from './request-body.ts';

interface HttpListenerOptions {
  readonly service: GuardService;
  readonly host: string;
  /** Required of every request, unless null. */
  readonly token: string | null;
  /** How long `close` waits for open requests. */
  readonly closeGraceMs: number;
  /** Accept WebSocket handshakes. */
  readonly streams: ModerationStreams;
}

const LIMITS = {
  maxConnections: 256,
  maxBodyBytes: MAX_BODY_BYTES,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
};

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
    const { service, host, token, closeGraceMs, streams } = this.#options;
    // These modules take 0.1 s to load, and runs with the embedded guard do not need them.
    const { openGuardApp } = await import('./guard-app.ts');
    const { responseStreams } = await import('../../http/streams/response-stream.ts');
    this.#upgrade ??= responseStreams(streams);
    this.#site ??= await openGuardApp({ service, isExiting: () => this.#isExiting });
    this.#server = await startHttpServer({
      ...this.#site,
      what: 'the guard',
      host,
      port,
      token,
      limits: { ...LIMITS, closeGraceMs },
      upgrade: this.#upgrade,
    });
    const { port: bound } = new URL(this.#server.origin);
    // Closed in the meantime: a scripted outage may listen again at any time.
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
