import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RunDetail, RunRow } from '../../../src/dashboard/api/runs.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { startGuardServer } from '../../../src/guard-server/server.ts';
import { Cli, temporaryFolder } from '../../helpers/cli.ts';
import { openUnready, rowOnce, serveDashboard, startDashboard } from '../../helpers/dashboard.ts';
import { onlyRun } from '../../helpers/run-directory.ts';

it('a run of the command line is paused, continued and cancelled, and the page says how to go on', async () => {
  let executionMs = 300;
  const synthetic = { serviceTime: () => executionMs };
  const guard = await startGuardServer({ model: 'synthetic', grpcPort: 0, synthetic });
  onTestFinished(() => guard.close());
  const folder = await temporaryFolder();
  const rows = Array.from({ length: 3000 }, (_, at) => `text number ${at}`);
  await writeFile(join(folder, 'texts.csv'), `text\n${rows.join('\n')}\n`);
  const out = join(folder, 'runs');
  const enqueued = new Cli(['enqueue', join(folder, 'texts.csv'), '--out', out, '--guard', guard.address]);
  await expect.poll(() => onlyRun(out).catch(() => null), { timeout: 30_000 }).not.toBeNull();
  const run = basename(await onlyRun(out));
  const served = await serveDashboard({ out, roots: [folder] });
  const act = async (action: string): Promise<number> =>
    (await served.fetch(`/api/runs/${run}/actions/${action}`, { method: 'POST', body: {} })).status;
  const until = (state: RunRow['state']): Promise<RunRow> =>
    rowOnce(served, run, (row) => row.state === state);
  const detail = async (): Promise<RunDetail> =>
    (await (await served.fetch(`/api/runs/${run}`)).json()) as RunDetail;

  await until('running');
  expect(await act('pause')).toBe(202);
  await until('paused');
  expect(await act('pause')).toBe(409);
  expect(await act('resume')).toBe(404);
  expect(await act('continue')).toBe(202);
  await until('running');
  expect(await act('cancel')).toBe(202);
  expect((await until('cancelled')).actions).toEqual([]);
  const { command } = await detail();
  expect(command).toMatch(/ resume (-- )?/);
  expect(command).toContain(join(out, run));
  // Nothing is listed of a run that is not finished, but its counts.
  const items = await served.fetch(`/api/runs/${run}/items`, { method: 'POST', body: {} });
  expect([items.status, await items.text()]).toEqual([409, expect.stringContaining('not finished')]);

  expect((await enqueued.finished()).status).toBe(130);
  executionMs = 0;
  expect((await new Cli(['resume', join(out, run)]).finished()).status).toBe(0);
  expect(await until('finished')).toMatchObject({
    progress: { planned: 3000, judged: 3000, errors: 0 },
    actions: [],
  });
  expect(await detail()).toMatchObject({
    summary: { items: 3000 },
    content: { readable: true },
    guards: [guard.address],
    command: null,
  });
});

it('an embedded guard that dies ends the server', async () => {
  const died = new AbortController();
  const served = await startDashboard({
    out: await temporaryFolder(),
    openGuards: async (signal, say) => ({ ...(await openUnready([])(signal, say)), died: died.signal }),
  });
  died.abort(new Failure('internal', 'the embedded guard died'));
  await expect(served.close()).rejects.toThrow('the embedded guard died');
});
