import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type RunAction, type RunDetail, type RunRow, START_RUN, type Started } from '../api/runs.ts';
import { bodyOf } from '../body.ts';
import { DashboardError } from '../errors.ts';
import type { RunActions } from '../runs/run-control.ts';
import { runDetail } from '../runs/run-detail.ts';
import type { RunFolder } from '../runs/run-folder.ts';
import type { RunList } from '../runs/run-list.ts';
import type { Roots } from '../runs/roots.ts';

export interface RunParts {
  readonly runs: RunFolder;
  readonly list: RunList;
  readonly control: RunActions;
  readonly roots: Roots;
  /** Path of this user's key file, see runKeyFile. */
  readonly keyFile: string | null;
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
}

interface OfRun {
  Params: { run: string };
}

interface OfAction {
  Params: { run: string; action: string };
}

const ACTIONS: readonly RunAction[] = ['pause', 'continue', 'cancel', 'resume', 'retry'];

/** `/api/runs`: lists, starts and steers runs. */
export function addRunRoutes(app: FastifyInstance, parts: RunParts): void {
  const { runs, list, control, signal } = parts;

  app.get('/api/runs', async (): Promise<readonly RunRow[]> => (await list.look(signal)).rows);

  app.post('/api/runs', async ({ body }): Promise<Started> => {
    return { run: await control.start(bodyOf(START_RUN, body)) };
  });

  app.get<OfRun>('/api/runs/:run', async ({ params: { run } }): Promise<RunDetail> => {
    const dir = await runs.find(run);
    return runDetail(await list.current(run, signal), dir, parts, signal);
  });

  app.post<OfAction>('/api/runs/:run/actions/:action', async (request, reply) => {
    await control.act(request.params.run, actionOf(request));
    return reply.code(202).send();
  });
}

function actionOf({ params: { action } }: FastifyRequest<OfAction>): RunAction {
  const found = ACTIONS.find((each) => each === action);
  if (found === undefined) throw new DashboardError('NOT_FOUND', 'there is no such action');
  return found;
}
