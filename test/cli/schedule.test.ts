import { expect, it } from 'vitest';
import { runCommands } from '../../src/cli/run/run-commands.ts';
import type { ScheduleView } from '../../src/fleet/scheduler/view-schedule.ts';
import { folderWith } from '../helpers/cli.ts';
import { typed } from './terminal.ts';

const WHAT = "sources: [{ path: a.csv }]\nguard: ['embedded:']\noutput: { dir: runs }\n";
const JOB = `${WHAT}schedule: { cron: 0 2 * * *, timezone: UTC, keep: 1d }\n`;

it('a schedule is run by hand and listed with how that went; one that has no file is unknown', async () => {
  const cwd = await folderWith({ 'jobs/a.csv': 'text\nhello\n', 'jobs/nightly.yaml': JOB });
  const schedule = (...args: string[]) =>
    typed(['schedule', ...args], { runs: runCommands, context: { cwd } });
  const byHand = await schedule('run', 'nightly', 'jobs');
  expect([byHand.status, byHand.stdout]).toEqual([0, expect.stringContaining('Judged 1 of 1 item;')]);
  expect((await schedule('list', 'jobs')).stdout).toMatch(
    /^nightly: 0 2 \* \* \* \(UTC\), next \S+Z, runs kept for 24 h\n {2}last by hand: finished with status 0 /,
  );
  const [view] = JSON.parse((await schedule('list', 'jobs', '--json')).stdout) as ScheduleView[];
  expect(view).toMatchObject({ name: 'nightly', cron: '0 2 * * *', keep_ms: 86_400_000 });
  expect(Date.parse(view!.next)).toBeGreaterThan(Date.now() - 60_000);
  const unknown = await schedule('run', 'nightli', 'jobs');
  expect([unknown.status, unknown.stderr]).toEqual([
    2,
    expect.stringContaining('there is no schedule nightli'),
  ]);
});
