import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import { bearsToken } from '../src/domain/bearer-token.ts';
import { Failure } from '../src/domain/failure.ts';

/** Where the metrics of a process are served. */
export interface MetricsAddress {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Every request must carry it as `authorization: Bearer …`; null: none is needed. */
  readonly token: string | null;
}

/** How long the head and the whole of a request may take, in milliseconds. */
const HEADERS_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 32;

export interface MetricsServer {
  /** As it can be fetched: `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves metrics in the text format of Prometheus under `/metrics`; 401 to a request without the token.
 * Failure('usage') when the port is taken.
 */
export async function serveMetrics(
  registry: Registry,
  { host, port, token }: MetricsAddress,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (token !== null && !bearsToken(request.headers.authorization, token)) {
      response.writeHead(401, { 'www-authenticate': 'Bearer', connection: 'close' }).end();
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, host, port);
  const bound = server.address();
  const boundPort = bound !== null && typeof bound === 'object' ? bound.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Failure('usage', `cannot serve metrics on ${host} port ${port} (${error.code ?? 'error'})`, {
          cause: error,
        }),
      ),
    );
    server.listen(port, host, () => resolve());
  });
}
