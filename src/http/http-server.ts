import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../domain/failure.ts';
import { isLoopback, LOOPBACK_HOST } from '../domain/access.ts';
import { type AdmissionRules, type Refusal, refusalOf } from './admission.ts';
import { refusalBody } from './refusal-body.ts';
import { UpgradedSockets, type UpgradeHandler } from './upgrades.ts';
import { urlHost } from './url-host.ts';

/** Answers an admitted request. If it rejects, the response is 500. */
type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface HttpLimits {
  /** Further connections are closed on arrival. */
  readonly maxConnections: number;
  readonly maxBodyBytes: number;
  /** Timeout for the headers of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** Timeout for a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** How long `close` waits for open requests. */
  readonly closeGraceMs: number;
}

/** The routes of a server, and its rules of admission. */
export interface HttpSite extends Pick<AdmissionRules, 'token' | 'chunkedBodies' | 'errorBody'> {
  readonly handle: Handler;
}

/** A second site on a server, which has some of its paths. */
export interface SecondSite extends HttpSite {
  /** Whether a request for this URL, as in its first line, is for this site. */
  readonly takes: (url: string) => boolean;
  readonly maxBodyBytes: number;
  /**
   * Whether Host may be any name, because the site is behind a proxy. Default: while the server listens on a loopback
   * address, it must name this machine.
   */
  readonly anyHost?: boolean;
}

export interface HttpServerOptions extends HttpSite {
  /** Name of the service in failure messages: `metrics`. */
  readonly what: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: a free port. */
  readonly port: number;
  readonly limits: HttpLimits;
  /** Takes WebSocket handshakes, after the same checks. Default: handled as ordinary requests. */
  readonly upgrade?: UpgradeHandler;
  /** Another site on some of the paths. */
  readonly beside?: SecondSite | null;
}

export interface HttpServer {
  /** `http://127.0.0.1:9464`. */
  readonly origin: string;
  /** Stops listening, waits up to `closeGraceMs` for open requests and upgraded sockets, and drops those left. */
  close(): Promise<void>;
  /** Stops listening and drops every connection at once. */
  drop(): void;
}

export const MAX_HEADER_BYTES = 16 * 1024;

/** Precision of the timeouts; with Node's default of 30 s they would fire up to 30 s late. */
const TIMEOUT_CHECK_MS = 1000;

/** How long an idle connection is kept. Load balancers keep theirs for 60 s, and must be the first to close. */
const KEEP_ALIVE_MS = 75_000;

/** Starts an HTTP server on one address. Failure('usage') when the port cannot be bound. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { what, host = LOOPBACK_HOST, port, token, limits, beside = null } = options;
  const { maxBodyBytes } = limits;
  const main = { ...options, maxBodyBytes, ownHostOnly: token === null && isLoopback(host) };
  const second = beside && { ...beside, ownHostOnly: beside.anyHost !== true && isLoopback(host) };
  const serverOptions = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  };
  let closing = false;
  const server = createServer(serverOptions);
  const respond = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void => {
    response.once('close', () => {
      if (closing) server.closeIdleConnections();
    });
    const site = second?.takes(request.url ?? '') === true ? second : main;
    const refusal = refusalOf(request.headers, site);
    if (refusal !== null) {
      refuse(request, response, refusal);
      return;
    }
    if (awaitsContinue) response.writeContinue();
    site.handle(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
  server.on('request', (request, response) => respond(request, response, false));
  // The request has `Expect: 100-continue`: its client waits with the body until it is admitted.
  server.on('checkContinue', (request, response) => respond(request, response, true));
  const upgraded = new UpgradedSockets();
  if (options.upgrade !== undefined) {
    upgraded.serve(server, {
      refusalOf: ({ headers }) => refusalOf(headers, main),
      handle: options.upgrade,
    });
  }
  server.maxConnections = limits.maxConnections;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error';
    throw new Failure('usage', `cannot serve ${what} on ${host} port ${port} (${code})`, { cause });
  }
  // A connection that cannot be accepted, for lack of file descriptors, must not end the process.
  server.on('error', () => {});

  const drop = (): void => {
    server.close();
    server.closeAllConnections();
    upgraded.destroy();
  };
  return {
    origin: `http://${urlHost(host)}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const timer = setTimeout(drop, limits.closeGraceMs);
      await closed;
      clearTimeout(timer);
    },
    drop,
  };
}

/** Answers a refused request and closes its connection. */
function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Refusal,
): void {
  response.writeHead(status, { ...headers, connection: 'close' });
  refusalBody(request, body).pipe(response);
}
