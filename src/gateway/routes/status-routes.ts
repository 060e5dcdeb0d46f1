import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../api/openapi.ts';
import { ApiError } from '../api/errors.ts';
import type { GuardWatch } from '../guard-watch.ts';
import type { GatewayMetrics } from '../metrics.ts';

export interface StatusParts {
  readonly guardWatch: GuardWatch;
  readonly metrics: GatewayMetrics;
  /** Whether every request must carry a token. */
  readonly needsToken: boolean;
}

/** What programs ask about the gateway itself. */
export function addStatusRoutes(
  app: FastifyInstance,
  { guardWatch, metrics, needsToken }: StatusParts,
): void {
  const document = openApiDocument(needsToken);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    if (!guardWatch.isReady) throw new ApiError('GUARD_UNAVAILABLE', 'no guard is ready');
    return { status: 'ok' };
  });
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.registry.metrics();
    return reply.type(metrics.registry.contentType).send(text);
  });
  app.get('/openapi.json', async () => document);
}
