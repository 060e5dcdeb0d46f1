import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { toolVersion } from '../../config/tool-version.ts';
import { REVIEWER } from '../api/reviews.ts';
import type { LoggedIn, Session } from '../api/runs.ts';
import { parseRequestBody } from '../body.ts';
import { DashboardError } from '../errors.ts';
import type { RunFolder } from '../runs/run-folder.ts';
import { cliCommand } from '../runs/to-fix.ts';
import { type AccessParts, rightsOf } from '../session/access.ts';

/** Maximum size of a login. Anyone may send one, and many are held in memory at a time. */
const MAX_LOGIN_BYTES = 4096;

const LOGIN = z.strictObject({ token: z.string(), reviewer: REVIEWER.shape.name.nullable().default(null) });

export interface SessionParts extends AccessParts {
  readonly runs: RunFolder;
}

/** Routes under `/api/session`: login, logout, and the data that pages need before anything else. */
export function addSessionRoutes(app: FastifyInstance, parts: SessionParts): void {
  const { sessions, runs } = parts;
  const version = toolVersion();

  const login = { config: { isPublic: true }, bodyLimit: MAX_LOGIN_BYTES };
  app.post('/api/session', login, async (request, reply): Promise<LoggedIn> => {
    const { token, reviewer } = parseRequestBody(LOGIN, request.body);
    const { mayRelease } = rightsOf(token, request, parts);
    const { pageKey, cookie } = sessions.begin(request.raw, { reviewer, mayRelease });
    reply.header('set-cookie', cookie);
    return { page_key: pageKey };
  });

  app.delete('/api/session', async (request, reply) => {
    return reply.header('set-cookie', sessions.end(request.raw)).code(204).send();
  });

  app.post('/api/session/reviewer', async (request, reply) => {
    const { name } = parseRequestBody(REVIEWER, request.body);
    // A program sends the token with each request and has no session in which to keep a name.
    if (request.session === null) throw new DashboardError('CONFLICT', 'only a session has a name');
    request.session.reviewer = name;
    return reply.code(204).send();
  });

  app.get('/api/session', async ({ session }): Promise<Session> => {
    const reviewer = session?.reviewer ?? null;
    const start_command = cliCommand('enqueue', './uploads');
    return { version, start_command, may_control: await runs.isWritable(), reviewer };
  });
}
