import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DashboardError } from '../errors.ts';
import type { WebFile, WebFiles } from '../pages/web-files.ts';

/** File names change with their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  'media-src blob:',
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const NOT_BUILT = 'The pages of the dashboard are not built. Run: npm run build\n';

const PUBLIC = { config: { isPublic: true } };

/**
 * Routes for the pages and their files, which contain no data and need no session. `web` is null if they are not built.
 */
export function addPageRoutes(app: FastifyInstance, web: WebFiles | null): void {
  const page = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.header('content-security-policy', PAGE_POLICY);
    if (web === null) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
    return sendFile(request, reply.header('cache-control', 'no-cache'), web.index);
  };
  // The page itself decides what to show for a path.
  for (const path of ['/', '/login', '/runs', '/runs/*']) app.get(path, PUBLIC, page);

  app.get<{ Params: { name: string } }>('/assets/:name', PUBLIC, async (request, reply) => {
    const file = web?.assets.get(request.params.name);
    if (file === undefined) throw new DashboardError('NOT_FOUND', 'there is no such file');
    return sendFile(request, reply.header('cache-control', FOR_EVER), file);
  });
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: WebFile): FastifyReply {
  reply.type(file.type).header('vary', 'accept-encoding');
  const accepted = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (file.gzipped === null || !accepted) return reply.send(file.body);
  return reply.header('content-encoding', 'gzip').send(file.gzipped);
}
