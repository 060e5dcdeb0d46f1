import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommands } from '../../../src/cli/run/run-commands.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { onlyRun } from '../../helpers/run-directory.ts';
import { syntheticGuard } from '../../helpers/synthetic-guard.ts';
import { typed } from '../terminal.ts';
import { expectNothingForged, HOSTILE } from './output.ts';

async function enqueued(args: readonly string[]) {
  const { address } = await syntheticGuard();
  return typed(['enqueue', ...args, '--guard', address], { runs: runCommands });
}

/** A folder with hostile names of folders, files, columns, ids and keys. */
async function hostileFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'uploads');
  const inner = join(folder, HOSTILE);
  await mkdir(inner, { recursive: true });
  const cell = `"${HOSTILE}"`;
  await writeFile(join(folder, `${HOSTILE}.csv`), `id,text,${cell}\n${cell},hello,${cell}\n`);
  await writeFile(join(inner, 'empty.csv'), 'id,text\n');
  await writeFile(join(inner, 'two.csv'), `${cell},x,n\nwords,others,3\nmore,fewer,4\n`);
  await writeFile(join(inner, `${HOSTILE}.jsonl`), `${JSON.stringify({ text: 'a', [HOSTILE]: 'b' })}\n`);
  await writeFile(join(folder, `x.${HOSTILE}`), Buffer.from([0, 1, 2, 3, 0xff]));
  return folder;
}

test('a run over hostile names prints lines of its own, and so do status, verify and resume', async () => {
  const folder = await hostileFolder();
  const out = join(folder, '..', 'runs');
  const run = await enqueued([folder, '--out', out]);
  expect(run.stdout).toContain('Judged ');
  expectNothingForged(run.stdout, run.stderr);
  const dir = await onlyRun(out);
  for (const command of [
    ['verify', dir],
    ['status', dir],
    ['status', '--out', out],
    ['resume', dir],
    ['retry', dir],
  ]) {
    const { stdout, stderr } = await typed(command, { runs: runCommands });
    expectNothingForged(stdout, stderr);
  }
});

test('arguments and settings are shown on one line', async () => {
  const folder = await temporaryFolder();
  const job = join(folder, 'job.yaml');
  await writeFile(job, `${JSON.stringify(HOSTILE)}: 1\n"sources": [{"path": "."}]\n`);
  const commands = [
    [HOSTILE],
    [`--${HOSTILE}`],
    ['enqueue', HOSTILE],
    ['enqueue', job],
    ['enqueue', folder, `--${HOSTILE}`, 'x'],
    ['enqueue', folder, '--guard', HOSTILE],
    ['enqueue', folder, '--policy', HOSTILE],
    ['enqueue', folder, '--redis', `redis://${HOSTILE}`],
    ['enqueue', folder, '--out', join('/proc', HOSTILE)],
    ['verify', HOSTILE],
    ['verify', folder, '--head', HOSTILE],
    ['worker', '--redis', 'redis://127.0.0.1:1', '--guard', 'embedded:', '--root', HOSTILE],
    ['normalize', HOSTILE, '--out', folder],
    ['guard', '--model', 'synthetic', '--faults', HOSTILE],
    ['fingerprint', '--guard', HOSTILE],
  ];
  for (const command of commands) {
    const { status, stdout, stderr } = await typed(command, { runs: runCommands, context: { cwd: folder } });
    expect([command, status]).not.toEqual([command, 0]);
    expectNothingForged(stdout, stderr);
  }
});

test('the last line for a folder with control characters is escaped, and JSON gives it exactly', async () => {
  const folder = join(await temporaryFolder(), HOSTILE);
  await mkdir(folder);
  await writeFile(join(folder, 'a.csv'), 'text\nhello\n');
  const { stdout, stderr } = await enqueued([folder, '--out', join(folder, 'runs'), '--json']);
  expectNothingForged(stderr);
  expect(stdout).toMatch(/^[\x20-\x7e]+\n$/);
  const { dir } = JSON.parse(stdout) as { dir: string };
  expect(JSON.parse(await readFile(join(dir, 'run.json'), 'utf8'))).toMatchObject({ schema: 1 });
  const stopped = await typed(['status', dir, '--json']);
  expect(stopped.stdout).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(stopped.stdout)).toMatchObject([{ dir, state: 'finished' }]);
});
