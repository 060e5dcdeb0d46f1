import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import type { ApiFailure, Started } from '../../../src/dashboard/api/runs.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { followEvents, openUnready, serveDashboard, startDashboard } from '../../helpers/dashboard.ts';

it('starts no run that reads or writes elsewhere, and says what is wrong', async () => {
  const folder = await temporaryFolder();
  const root = join(folder, 'root');
  await mkdir(join(root, 'texts'), { recursive: true });
  await writeFile(join(root, 'texts', 'a.txt'), 'a text');
  await writeFile(join(folder, 'secret.txt'), 'a secret');
  await writeFile(join(folder, 'policy.yaml'), 'thresholds: {}\n');
  await symlink(join(folder, 'secret.txt'), join(root, 'link.txt'));
  await symlink(folder, join(root, 'up'));
  await symlink(join('texts', 'a.txt'), join(root, 'text.yaml'));
  const job = async (name: string, more: string): Promise<string> => {
    await writeFile(join(root, name), `sources:\n  - path: ./texts\n${more}`, { mode: 0o600 });
    return name;
  };
  const served = await serveDashboard({ out: join(folder, 'runs'), roots: [root] });
  const cases: readonly (readonly [body: object, expected: RegExp])[] = [
    [{ paths: ['../secret.txt'] }, /^FORBIDDEN paths .*--root/],
    [{ paths: [join(folder, 'secret.txt')] }, /^FORBIDDEN paths/],
    [{ paths: ['texts', 'link.txt'] }, /^FORBIDDEN paths/],
    [{ paths: ['up/secret.txt'] }, /^FORBIDDEN paths/],
    [{ paths: ['up/*.txt'] }, /^FORBIDDEN paths/],
    [{ paths: ['texts/../../*.txt'] }, /^FORBIDDEN paths/],
    [{ paths: ['none.txt'] }, /^FORBIDDEN paths .*is not there/],
    [{ paths: ['te\u{0}xts'] }, /^FORBIDDEN paths/],
    [{ paths: ['--out=/tmp'] }, /^FORBIDDEN paths/],
    [{ paths: ['texts'], policy: '../policy.yaml' }, /^FORBIDDEN policy/],
    [{ paths: ['texts'], policy: 'texts/a.txt' }, /^INVALID_REQUEST policy/],
    [{ paths: ['texts'], policy: 'text.yaml' }, /^INVALID_REQUEST policy .*ending/],
    [{ paths: ['texts'], name: 'Not A Name' }, /^INVALID_REQUEST name .*not-a-name/],
    [{ paths: [await job('command.yaml', 'onFinish: [touch, no]\n')] }, /^FORBIDDEN paths .*onFinish/],
    [{ paths: [await job('head.yaml', 'headFile: ./heads\n')] }, /^FORBIDDEN paths .*headFile/],
    [{ paths: [await job('store.yaml', 'store: ../store\n')] }, /^FORBIDDEN paths .*store/],
    [{ paths: [await job('rules.yaml', 'policy: ../policy.yaml\n')] }, /^FORBIDDEN paths/],
    [{ paths: [await job('written.yaml', 'guardPolicy: ../secret.txt\n')] }, /^FORBIDDEN paths/],
    [{ paths: [await job('above.yaml', '  - path: ../secret.txt\n')] }, /^FORBIDDEN paths/],
    [{ paths: [await job('unknown.yaml', 'nonsense: 1\n')] }, /^INVALID_REQUEST paths .*nonsense/],
  ];
  for (const [body, expected] of cases) {
    const response = await served.fetch('/api/runs', { method: 'POST', body });
    const { error } = (await response.json()) as ApiFailure;
    expect(`${error?.code} ${error?.field} ${error?.message}`, JSON.stringify(body)).toMatch(expected);
  }
  expect((await readdir(folder)).sort()).toEqual(['policy.yaml', 'root', 'secret.txt']);
});

it('says why a run did not start, in the words of the command', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'old.csv'), Buffer.from(`text\n${'caf\u{e9}\n'.repeat(100)}`, 'latin1'));
  const served = await serveDashboard({ out: join(folder, 'runs'), roots: [folder] });
  const response = await served.fetch('/api/runs', { method: 'POST', body: { paths: ['old.csv'] } });
  const { error } = (await response.json()) as ApiFailure;
  expect(error.code).toBe('INVALID_REQUEST');
  expect(error.message).toMatch(/^[^\n]*old\.csv[^\n]*--encoding[^\n]*$/);
});

it('shutting down ends event streams, and interrupts the runs that were started', async () => {
  const folder = await temporaryFolder();
  await writeFile(
    join(folder, 'texts.csv'),
    `text\n${Array.from({ length: 100_000 }, (_, at) => `text ${at}\n`).join('')}`,
  );
  const out = join(folder, 'runs');
  const served = await serveDashboard({ out, roots: [folder] });
  const events = await followEvents(served);
  const response = await served.fetch('/api/runs', { method: 'POST', body: { paths: ['texts.csv'] } });
  const { run } = (await response.json()) as Started;
  await events.next((runs) => runs.some((row) => row.run === run && row.progress.judged > 0));
  await served.close();
  await events.ended;
  const again = await serveDashboard({ out, roots: [folder] });
  const detail = await (await again.fetch(`/api/runs/${run}`)).json();
  expect(detail).toMatchObject({ guards: ['embedded:'], progress: { plan_closed: false } });
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
