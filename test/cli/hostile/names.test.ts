import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile, rename } from 'node:fs/promises';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test, onTestFinished } from 'vitest';
import { runCommands } from '../../../src/cli/run/run-commands.ts';
import { encodeStrings } from '../../../src/guard/tensors/raw.ts';
import { resumeCommand } from '../../../src/cli/run/resume-command.ts';
import { temporaryFolder, writeFiles, folderWith, guardsweep } from '../../helpers/cli.ts';
import { onlyRun } from '../../helpers/run-directory.ts';
import { syntheticGuard } from '../../helpers/guards/shared-guard.ts';
import { typed } from '../terminal.ts';
import { guard } from '../../helpers/guards/guard-pool.ts';
import { expectNothingForged, HOSTILE, FORGED } from './output.ts';

async function enqueued(args: readonly string[]) {
  const { address } = await syntheticGuard();
  return typed(['enqueue', ...args, '--guard', address], { runs: runCommands });
}

/** Runs a command, which says something and lets no name forge a line; returns what it said. */
async function expectHonest(command: readonly string[]): Promise<string> {
  const { stdout, stderr } = await typed(command, { runs: runCommands });
  expect(stdout + stderr).not.toBe('');
  expectNothingForged(stdout, stderr);
  return stdout + stderr;
}

/** A folder with hostile names of folders, files, columns, ids and keys. */
async function hostileFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'uploads');
  const cell = `"${HOSTILE}"`;
  await writeFiles(folder, {
    [`${HOSTILE}.csv`]: `id,text,${cell}\n${cell},hello,${cell}\n`,
    [`${HOSTILE}/empty.csv`]: 'id,text\n',
    [`${HOSTILE}/two.csv`]: `${cell},x,n\nwords,others,3\nmore,fewer,4\n`,
    [`${HOSTILE}/${HOSTILE}.jsonl`]: `${JSON.stringify({ text: 'a', [HOSTILE]: 'b' })}\n`,
    [`x.${HOSTILE}`]: Buffer.from([0, 1, 2, 3, 0xff]),
  });
  return folder;
}

test('a run over hostile names prints lines of its own, and so do status, verify and resume', async () => {
  const folder = await hostileFolder();
  const out = join(folder, '..', 'runs');
  const run = await enqueued([folder, '--out', out]);
  expect(run.stdout).toContain('Judged ');
  expectNothingForged(run.stdout, run.stderr);
  const dir = await onlyRun(out);
  await expectHonest(['status', '--out', out]);
  for (const command of ['verify', 'status', 'resume', 'retry']) await expectHonest([command, dir]);
});

test('arguments and settings are shown on one line', async () => {
  const folder = await temporaryFolder();
  const job = join(folder, 'job.yaml');
  await writeFile(job, `${JSON.stringify(HOSTILE)}: 1\n"sources": [{"path": "."}]\n`);
  const inFolder = (...flags: string[]) => ['enqueue', folder, ...flags];
  const commands = [
    ...[[HOSTILE], [`--${HOSTILE}`], ['enqueue', HOSTILE], ['enqueue', job], ['verify', HOSTILE]],
    inFolder(`--${HOSTILE}`, 'x'),
    inFolder('--guard', HOSTILE),
    inFolder('--policy', HOSTILE),
    inFolder('--redis', `redis://${HOSTILE}`),
    inFolder('--out', join('/proc', HOSTILE)),
    ['verify', folder, '--head', HOSTILE],
    ['worker', '--redis', 'redis://127.0.0.1:1', '--guard', 'embedded:', '--root', HOSTILE],
    ['normalize', HOSTILE, '--out', folder],
    ['guard', '--model', 'synthetic', '--faults', HOSTILE],
    ['fingerprint', '--guard', HOSTILE],
  ];
  for (const command of commands) {
    const { status, stdout, stderr } = await typed(command, { runs: runCommands, context: { cwd: folder } });
    expect(status, command.join(' ')).not.toBe(0);
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

/** A guard whose model and artifacts have names that a terminal acts on. */
async function guardWith(artifacts: Readonly<Record<string, string>>, version: string): Promise<string> {
  const raw_output_contents = [encodeStrings([JSON.stringify(artifacts)])];
  const served = await guard({
    onVersion: () => ({ reply: (usual) => ({ ...usual, model_version: version, raw_output_contents }) }),
    script: () => ({ reply: (usual) => ({ ...usual, model_version: version }) }),
  });
  return served.address;
}

const SHA256 = 'a'.repeat(64);

test('artifacts and versions with hostile names are shown on their own lines', async () => {
  const name = HOSTILE.replaceAll(/[\r\n]/g, '\u2029');
  const address = await guardWith({ [name]: SHA256, [`\u001b]0;${FORGED}\u0007`]: SHA256 }, HOSTILE);
  const folder = await folderWith({ 'a.csv': 'text\nhello\n' });
  const out = join(folder, 'runs');
  for (const command of [
    ['fingerprint'],
    ['doctor', '--out', out],
    ['enqueue', join(folder, 'a.csv'), '--out', out],
    ['enqueue', folder, '--out', out, '--expect-fingerprint', `sha256:${SHA256}`],
  ])
    await expectHonest([...command, '--guard', address]);
  const json = await typed(['fingerprint', '--guard', address, '--json']);
  expect(json.stdout).toMatch(/^[\x20-\x7e\n]+$/);
  const [model] = JSON.parse(json.stdout) as [{ fingerprint: { artifacts: object } }];
  expect(Object.keys(model.fingerprint.artifacts)).toContain(name);
  await expectHonest(['verify', await onlyRun(out)]);
});

test('what a library says of a foreign header is not printed', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/grpc', 'x-name': `\u009b31m${FORGED}` });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const { status, stdout, stderr } = await guardsweep(['fingerprint', '--guard', `grpc://127.0.0.1:${port}`]);
  expect(status).toBe(4);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^guardsweep: [^\n]*\n$/);
  expect(stderr).not.toContain('Judged');
});

test('names in a forged run directory are shown on one line by every command', async () => {
  const folder = await folderWith({ 'a.csv': 'text\nhello\n' });
  const out = join(folder, 'runs');
  await enqueued([join(folder, 'a.csv'), '--out', out]);
  const dir = await onlyRun(out);
  const record = JSON.parse(await readFile(join(dir, 'run.json'), 'utf8')) as object;
  const skipped = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`${HOSTILE}${at}`, at]));
  const forged = { ...record, run: HOSTILE, created_at: HOSTILE, skipped };
  await writeFile(join(dir, 'run.json'), JSON.stringify(forged));
  const renamed = join(out, `20261121T020000Z-${HOSTILE}`);
  await rename(dir, renamed);
  for (const command of [
    ['status', '--out', out],
    ...['verify', 'status', 'resume', 'retry', 'pause', 'cancel'].map((name) => [name, renamed]),
  ])
    expect((await expectHonest(command)).length).toBeLessThan(10_000);
});

test('the command that resumes a run can be typed as it is shown', async () => {
  const folder = join(await temporaryFolder(), `it's ${HOSTILE}\u009b\u{e0041}\\x`);
  await mkdir(folder);
  const shown = resumeCommand(folder, { cwd: import.meta.dirname, env: {} });
  expect(shown).toMatch(/^[\x20-\x7e]+$/);
  const word = shown.slice('guardsweep resume '.length);
  expect(execFileSync('bash', ['-c', `printf %s ${word}`], { encoding: 'utf8' })).toBe(folder);
});
