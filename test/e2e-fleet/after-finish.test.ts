import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { NotedHead } from '../../src/record/head-file.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { guardsweep } from '../helpers/cli.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { jsonLines, until } from '../helpers/run-directory.ts';
import { startScriptedGuard } from '../helpers/guards/scripted-guard.ts';

it('a sink signs what it finishes, and notes and says its head; so does whoever follows the run', async () => {
  const guard = await startScriptedGuard({});
  onTestFinished(() => guard.kill());
  const { fleet, folder, path } = await fleetWithComments(50, { guards: [guard.address] });
  const [key, publicKey] = [join(folder, 'key.pem'), join(folder, 'public.pem')];
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', key]);
  execFileSync('openssl', ['pkey', '-in', key, '-pubout', '-out', publicKey]);
  const [ofSink, ofFeeder] = [join(folder, 'sink.jsonl'), join(folder, 'feeder.jsonl')];
  fleet.worker();
  const sink = fleet.sink(['--head-file', ofSink], { GUARDSWEEP_SIGNING_KEY_FILE: key });
  expectStatus(await fleet.enqueue(path, ['--head-file', ofFeeder, '--on-finish', 'true']).finished(), 0);
  const run = await fleet.run();
  const { chain_head } = JSON.parse(await readFile(join(run, 'summary.json'), 'utf8')) as Summary;
  for (const file of [ofSink, ofFeeder]) {
    const heads = await until(async () => {
      const noted = await jsonLines<NotedHead>(file);
      return noted.length > 0 && noted;
    }, `a head in ${file}`);
    expect(heads).toMatchObject([{ pass: 1, head: chain_head }]);
  }
  await until(async () => sink.stderr.includes(`chain head ${chain_head}`), 'the sink to say the head');
  const verified = await guardsweep(['verify', run, '--head-file', ofSink, '--public-key', publicKey]);
  expect([verified.status, verified.stdout]).toEqual([0, expect.stringContaining('signature is valid')]);
});
