import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../domain/failure.ts';
import { isLoopback, LOOPBACK_HOST } from '../domain/loopback.ts';
import { type ErrorBody, type Refusal, refusalOf } from './admission.ts';
import { refuse } from './refuse.ts';
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
  /** How long a connection may be idle between requests. Default: 5 s. */
  readonly keepAliveMs?: number;
  /** How long `close` waits for open requests. */
  readonly closeGraceMs: number;
}

export interface HttpServerOptions {
  /** What is served, for the message of a failure: `metrics`. */
  readonly what: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: a free port. */
  readonly port: number;
  /** Required of every request as `authorization: Bearer <token>`; null: no token is required. */
  readonly token: string | null;
  readonly limits: HttpLimits;
  readonly handle: Handler;
  /** Whether bodies without a declared length are admitted, which `handle` must then bound. Default: 411. */
  readonly chunkedBodies?: boolean;
  /** Makes the JSON body of a refusal. Default: a line of text. */
  readonly errorBody?: ErrorBody;
  /** Takes WebSocket handshakes, after the same checks. Default: handled as ordinary requests. */
  readonly upgrade?: UpgradeHandler;
}

export interface HttpServer {
  /** `http://127.0.0.1:9464`. */
  readonly origin: string;
  /** Stops listening, waits up to `closeGraceMs` for open requests and upgraded sockets, and drops those left. */
  close(): Promise<void>;
  /** Stops listening and drops every connection at once. */
  drop(): void;
}

const MAX_HEADER_BYTES = 16 * 1024;

/** Precision of the timeouts; with Node's default of 30 s they would fire up to 30 s late. */
const TIMEOUT_CHECK_MS = 1000;

/** Starts an HTTP server on one address. Failure('usage') when the port cannot be bound. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { what, host = LOOPBACK_HOST, port, token, limits, handle } = options;
  const rules = {
    token,
    onLoopback: isLoopback(host),
    maxBodyBytes: limits.maxBodyBytes,
    chunkedBodies: options.chunkedBodies ?? false,
    errorBody: options.errorBody ?? null,
  };
  const serverOptions = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    ...(limits.keepAliveMs === undefined ? {} : { keepAliveTimeout: limits.keepAliveMs }),
  };
  let closing = false;
  const server = createServer(serverOptions);
  const respond = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void => {
    response.once('close', () => {
      if (closing) server.closeIdleConnections();
    });
    const refusal = refusalOf(request.headers, rules);
    if (refusal !== null) {
      refuse(request, response, refusal);
      return;
    }
    if (awaitsContinue) response.writeContinue();
    handle(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
  server.on('request', (request, response) => respond(request, response, false));
  // The request has `Expect: 100-continue`: its client waits with the body until it is admitted.
  server.on('checkContinue', (request, response) => respond(request, response, true));
  const upgraded = new UpgradedSockets();
  if (options.upgrade !== undefined) {
    const refusalOfUpgrade = (request: IncomingMessage): Refusal | null => refusalOf(request.headers, rules);
    upgraded.serve(server, { refusalOf: refusalOfUpgrade, handle: options.upgrade });
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
