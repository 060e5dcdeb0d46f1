import type { Registry } from 'prom-client';
import { startHttpServer, type HttpLimits } from './http-server.ts';

/** Where a process serves its metrics. */
export interface MetricsAddress {
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** Required of every request as `authorization: Bearer <token>`; null: no token is required. */
  readonly token: string | null;
}

const LIMITS: HttpLimits = {
  maxConnections: 32,
  maxBodyBytes: 0,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 10_000,
  closeGraceMs: 1000,
};

export interface MetricsServer {
  /** `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves metrics in the text format of Prometheus under `/metrics`.
 * Failure('usage') when the port cannot be bound.
 */
export async function serveMetrics(registry: Registry, address: MetricsAddress): Promise<MetricsServer> {
  const server = await startHttpServer({
    what: 'metrics',
    ...address,
    limits: LIMITS,
    handle: async (request, response) => {
      if (request.method !== 'GET' || request.url !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    },
  });
  return { url: `${server.origin}/metrics`, close: () => server.close() };
}
