import type { FastifyInstance } from 'fastify';
import type { Health } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import { EventStream } from '../events/event-stream.ts';
import type { LiveEvents } from '../events/live-events.ts';

export interface LiveParts {
  readonly events: LiveEvents;
  readonly health: () => Promise<Health>;
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
}

/** `/api/events` and `/api/health`: what changes while somebody looks. */
export function addLiveRoutes(app: FastifyInstance, { events, health, signal }: LiveParts): void {
  app.get('/api/health', async (): Promise<Health> => health());

  app.get('/api/events', async (request, reply) => {
    if (events.isFull) throw new DashboardError('TOO_MANY_REQUESTS', 'too many pages follow the runs');
    const headers = reply.getHeaders() as Record<string, string>;
    reply.hijack();
    const left = new Promise((resolve) => reply.raw.once('close', resolve));
    events.follow(new EventStream(reply.raw, headers), request.session?.ended ?? signal, left);
  });
}
