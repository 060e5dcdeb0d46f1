import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCommands } from '../../../src/cli/run/run-commands.ts';
import { encodeStrings } from '../../../src/guard/tensors/raw.ts';
import { folderWith, guardsweep } from '../../helpers/cli.ts';
import { onlyRun } from '../../helpers/run-directory.ts';
import { startScriptedGuard } from '../../helpers/guards/scripted-guard.ts';
import { typed } from '../terminal.ts';
import { expectNothingForged, FORGED, HOSTILE } from './output.ts';

/** A guard whose model and artifacts have names that a terminal acts on. */
async function guardWith(artifacts: Readonly<Record<string, string>>, version: string): Promise<string> {
  const guard = await startScriptedGuard({
    onVersion: () => ({
      reply: (ordinary) => ({
        ...ordinary,
        model_version: version,
        raw_output_contents: [encodeStrings([JSON.stringify(artifacts)])],
      }),
    }),
    script: () => ({ reply: (ordinary) => ({ ...ordinary, model_version: version }) }),
  });
  onTestFinished(() => guard.kill());
  return guard.address;
}

const SHA256 = 'a'.repeat(64);

test('artifacts and versions with hostile names are shown on their own lines', async () => {
  const name = HOSTILE.replaceAll(/[\r\n]/g, '\u2029');
  const guard = await guardWith({ [name]: SHA256, [`\u001b]0;${FORGED}\u0007`]: SHA256 }, HOSTILE);
  const folder = await folderWith({ 'a.csv': 'text\nhello\n' });
  const out = join(folder, 'runs');
  for (const command of [
    ['fingerprint', '--guard', guard],
    ['doctor', '--guard', guard, '--out', out],
    ['enqueue', join(folder, 'a.csv'), '--out', out, '--guard', guard],
    ['enqueue', folder, '--out', out, '--guard', guard, '--expect-fingerprint', `sha256:${SHA256}`],
  ]) {
    const { stdout, stderr } = await typed(command, { runs: runCommands });
    expect(stdout + stderr).not.toBe('');
    expectNothingForged(stdout, stderr);
  }
  const json = await typed(['fingerprint', '--guard', guard, '--json']);
  expect(json.stdout).toMatch(/^[\x20-\x7e\n]+$/);
  expect(
    Object.keys(
      (JSON.parse(json.stdout) as [{ fingerprint: { artifacts: object } }])[0].fingerprint.artifacts,
    ),
  ).toContain(name);
  const verified = await typed(['verify', await onlyRun(out)], { runs: runCommands });
  expectNothingForged(verified.stdout, verified.stderr);
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
