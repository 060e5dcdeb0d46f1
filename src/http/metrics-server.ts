import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { startHttpServer, type HttpLimits } from './http-server.ts';

/** Address for a process's metrics. */
export interface MetricsAddress {
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** Required of every request as `authorization: Bearer <token>`, unless null. */
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
  // It takes 0.1 s to load, and processes without metrics do not need it.
  const { openApp } = await import('./app.ts');
  const site = await openApp({ addRoutes: (app) => addMetricsRoute(app, registry) });
  const server = await startHttpServer({
    what: 'metrics',
    ...address,
    ...site,
    chunkedBodies: false,
    limits: LIMITS,
  });
  return { url: `${server.origin}/metrics`, close: () => server.close() };
}

/** `GET /metrics`, in the text format of Prometheus. */
export function addMetricsRoute(app: FastifyInstance, registry: Registry): void {
  app.get('/metrics', async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
