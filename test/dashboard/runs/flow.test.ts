import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RunDetail, RunRow, Started } from '../../../src/dashboard/api/runs.ts';
import { startGuardServer } from '../../../src/guard-server/server.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { followEvents, serveDashboard } from '../../helpers/dashboard.ts';

it('a run is started, paused, continued, cancelled and resumed, and every step is an event', async () => {
  let executionMs = 300;
  const synthetic = { serviceTime: () => executionMs };
  const guard = await startGuardServer({ model: 'synthetic', grpcPort: 0, synthetic });
  onTestFinished(() => guard.close());
  const folder = await temporaryFolder();
  const rows = Array.from({ length: 3000 }, (_, at) => `text number ${at}`);
  await writeFile(join(folder, 'texts.csv'), `text\n${rows.join('\n')}\n`);
  const out = join(folder, 'runs');
  const served = await serveDashboard({ out, roots: [folder], guards: [guard.address] });
  const events = await followEvents(served);
  expect(await events.next(() => true)).toEqual([]);
  const started = await served.fetch('/api/runs', {
    method: 'POST',
    body: { paths: ['texts.csv'], name: 'flow' },
  });
  expect([started.status, served.said]).toEqual([200, []]);
  const { run } = (await started.json()) as Started;
  const act = async (action: string): Promise<number> =>
    (await served.fetch(`/api/runs/${run}/actions/${action}`, { method: 'POST', body: {} })).status;
  const until = (state: RunRow['state']): Promise<RunRow[]> =>
    events.next((runs) => runs.some((row) => row.run === run && row.state === state));

  const report = async (): Promise<string> => (await served.fetch(`/runs/${run}/report.html`)).text();
  await until('running');
  expect(await act('pause')).toBe(202);
  await until('paused');
  expect(await act('retry')).toBe(409);
  expect(await act('continue')).toBe(202);
  await until('running');
  expect(await act('cancel')).toBe(202);
  await until('cancelled');
  executionMs = 0;
  expect(await act('resume')).toBe(202);
  const [row] = await until('finished');
  expect(await report()).toContain('Moderation report');
  expect(row).toMatchObject({
    name: 'flow',
    progress: { planned: 3000, judged: 3000, errors: 0 },
    actions: [],
  });
  const detail = (await (await served.fetch(`/api/runs/${run}`)).json()) as RunDetail;
  expect(detail).toMatchObject({
    summary: { items: 3000 },
    content: { readable: true },
    guards: [guard.address],
  });
});
