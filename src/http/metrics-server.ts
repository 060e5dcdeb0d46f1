import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { startHttpServer, type HttpLimits } from './http-server.ts';

/** Address for a process's metrics. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 picks a free port. */
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

/** Checks, by name, whether a process currently has what it needs to work. They do not reject. */
export type Readiness = Readonly<Record<string, () => boolean | Promise<boolean>>>;

/**
 * Serves metrics in the text format of Prometheus under `/metrics`, and the health of the process: `/healthz` while it
 * runs, `/readyz` while it has what it needs. Failure('usage') when the port cannot be bound.
 */
export async function serveMetrics(
  registry: Registry,
  address: MetricsAddress,
  readiness: Readiness = {},
): Promise<MetricsServer> {
  // Takes 0.1 s to load, and processes without metrics do not need it.
  const { openApp, sendJson } = await import('./app.ts');
  const site = await openApp({
    addRoutes: (app) => {
      addMetricsRoute(app, registry);
      app.get('/healthz', async (_request, reply) => sendJson(reply, { status: 'ok' }));
      app.get('/readyz', async (_request, reply) => {
        const missing = await missingNeeds(readiness);
        if (missing.length === 0) return sendJson(reply, { status: 'ok' });
        return sendJson(reply.code(503), { status: 'unavailable', missing });
      });
    },
  });
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

/** Names of the unmet needs of a process. */
export async function missingNeeds(readiness: Readiness): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(readiness).map(async ([name, isMet]) => ((await isMet()) ? [] : [name])),
  );
  return found.flat();
}
