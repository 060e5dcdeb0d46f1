import { chmod, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../../helpers/cli.ts';
import { mistakeIn, resolved } from '../workspace.ts';

const SOMEBODY = 54_321;
const isRoot = process.geteuid?.() === 0;

async function jobFolder(): Promise<{ readonly cwd: string; readonly job: string }> {
  const cwd = await folderWith({
    'a.csv': 'text\nhello\n',
    'job.yaml': 'sources:\n  - path: a.csv\nonFinish: [/bin/true]\n',
  });
  return { cwd, job: join(cwd, 'job.yaml') };
}

describe('a job file that somebody else can change is refused', () => {
  it('when everybody can write in it', async () => {
    const { cwd, job } = await jobFolder();
    await chmod(job, 0o666);
    expect(await mistakeIn({ cwd, paths: ['job.yaml'] })).toBe(
      'job.yaml: others can write in this job file, and it decides what is read, where it is sent and what is run: take that right away first (chmod go-w job.yaml)',
    );
  });

  it.runIf(isRoot)('when it belongs to another user', async () => {
    const { cwd, job } = await jobFolder();
    await chown(job, SOMEBODY, SOMEBODY);
    expect(await mistakeIn({ cwd, paths: ['job.yaml'] })).toBe(
      'job.yaml: belongs to another user, and a job file decides what is read, where it is sent and what is run: look at it, and run a copy of your own',
    );
  });
});

it('a job file is accepted when the own group can write in it, as with a umask of 002', async () => {
  const { cwd, job } = await jobFolder();
  await chmod(job, 0o664);
  expect((await resolved({ cwd, paths: ['job.yaml'] })).name).toBe('job');
});
