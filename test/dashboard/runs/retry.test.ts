import { status as grpc } from '@grpc/grpc-js';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RunRow, Started } from '../../../src/dashboard/api/runs.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { followEvents, serveDashboard } from '../../helpers/dashboard.ts';
import { startScriptedGuard } from '../../helpers/guards/scripted-guard.ts';

it('what ended in an error that may pass is judged again when asked from here', async () => {
  let failing = true;
  const guard = await startScriptedGuard({
    script: ({ inputs }) =>
      failing && inputs['TEXT']?.includes('two')
        ? { code: grpc.INTERNAL, details: 'out of sorts' }
        : undefined,
  });
  onTestFinished(() => guard.kill());
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'texts.csv'), 'text\none\ntwo\nthree\n');
  const served = await serveDashboard({
    out: join(folder, 'runs'),
    roots: [folder],
    guards: [guard.address],
  });
  const events = await followEvents(served);
  const start = await served.fetch('/api/runs', { method: 'POST', body: { paths: ['texts.csv'] } });
  const { run } = (await start.json()) as Started;
  const finished = async (judged: number): Promise<RunRow | undefined> => {
    const rows = await events.next(([row]) => row?.state === 'finished' && row.progress.judged === judged);
    return rows[0];
  };
  expect(await finished(2)).toMatchObject({
    ...{ actions: ['retry'], not_judged: 1 },
    progress: { planned: 3, errors: 1 },
  });
  failing = false;
  const retry = await served.fetch(`/api/runs/${run}/actions/retry`, { method: 'POST', body: {} });
  expect(retry.status).toBe(202);
  expect(await finished(3)).toMatchObject({ actions: [], not_judged: 0, progress: { errors: 0 } });
  const detail = await served.fetch(`/api/runs/${run}`);
  expect(await detail.json()).toMatchObject({ pass: 2, summary: { verdicts: 3 } });
  const again = await served.fetch(`/api/runs/${run}/actions/retry`, { method: 'POST', body: {} });
  expect(again.status).toBe(409);
});
