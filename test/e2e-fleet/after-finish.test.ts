import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { NotedHead } from '../../src/record/head-file.ts';
import { finishedSummary } from '../../src/record/summary/finished-summary.ts';
import { makeSigningKeys } from '../helpers/certificate.ts';
import { guardsweep } from '../helpers/cli.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { jsonLines, until } from '../helpers/run-directory.ts';
import { guard } from '../helpers/guards/guard-pool.ts';
import { webhook, WEBHOOK_SECRET } from '../helpers/webhook.ts';

it('a sink signs what it finishes, and notes and says its head; so does whoever follows the run', async () => {
  const server = await guard();
  const { fleet, folder, path } = await fleetWithComments(50, { guards: [server.address] });
  const { key, publicKey } = makeSigningKeys(folder);
  const [ofSink, ofFeeder] = [join(folder, 'sink.jsonl'), join(folder, 'feeder.jsonl')];
  fleet.worker();
  const sink = fleet.sink(['--head-file', ofSink], { GUARDSWEEP_SIGNING_KEY_FILE: key });
  expectStatus(await fleet.enqueue(path, ['--head-file', ofFeeder, '--on-finish', 'true']).finished(), 0);
  const run = await fleet.run();
  const { chain_head } = (await finishedSummary(run))!;
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

it('a webhook is told of a run on a fleet, when it is interrupted and when it is finished', async () => {
  const hook = await webhook([503, 204]);
  const env = { GUARDSWEEP_WEBHOOK_SECRET: WEBHOOK_SECRET };
  const { fleet, path } = await fleetWithComments(50, { guards: ['embedded:'], env });
  const feeder = fleet.enqueue(path, ['--on-finish', hook.url]);
  const run = await fleet.run();
  feeder.kill('SIGINT');
  const interrupted = await feeder.finished();
  expectStatus(interrupted, 130);
  expect(interrupted.stderr).not.toContain('after the run');
  fleet.worker();
  fleet.sink();
  expectStatus(await fleet.resume(run, ['--on-finish', hook.url]).finished(), 0);
  const notices = hook.received.map(({ body }) => JSON.parse(body) as object);
  const interruption = { status: 130, state: 'interrupted', items: null, chain_head: null };
  expect(notices).toMatchObject([
    // The webhook did not take the first.
    interruption,
    interruption,
    { status: 0, state: 'finished', items: 50, verdicts: 50, errors: 0, run: basename(run) },
  ]);
});
