import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunRecord } from '../../src/config/run-config.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import {
  asBuilt,
  documentedFolder,
  needsRedis,
  runScript,
  shellBlocks,
  typedLines,
} from '../helpers/documented.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { onlyRun } from '../helpers/run-directory.ts';

/** Keeps a process of the fleet in the background, as if it ran on another machine. */
const inBackground = (line: string): string =>
  /^guardsweep (worker|sink) /.test(line) ? `${line} & fleet="\${fleet:-} $!"` : line;

it('the fleet of the README judges a run: worker, sink and feeder on one Redis', async ({ signal }) => {
  const redis = await redisForTest({ tcp: true });
  const blocks = shellBlocks('README.md').filter(needsRedis);
  expect(blocks).toHaveLength(1);
  const typed = typedLines(blocks[0]!).map((line) =>
    // The machines of the page: a Redis on this one, and the demonstration guard.
    asBuilt(line).replaceAll('redis://queue-1:6379', redis.url).replaceAll('grpc://gpu-1:8001', 'embedded:'),
  );
  const script = [
    ...typed.map(inBackground),
    'guardsweep verify runs/*-uploads-*',
    // The processes of a fleet end when they are told to.
    'kill -TERM $fleet',
    'wait $fleet',
  ].join('\n');
  const { status, output } = await runScript(await documentedFolder(await temporaryFolder()), script, signal);
  expect(status, output).toBe(0);
  expect(output).toContain('-uploads-');
  expect(output).toMatch(/: finished\n {2}100%;/);
  expect(output).toContain('verified: 3 items = 3 verdicts + 0 errors');
});

it('a job file is judged by the fleet, with all that it says', async () => {
  const folder = await temporaryFolder();
  const out = join(folder, 'runs');
  await mkdir(join(folder, 'jobs'));
  await mkdir(out);
  await writeComments(folder, 'comments.csv', 50);
  await writeFile(join(folder, 'policy.yaml'), 'thresholds:\n  default: { block: 0.9 }\n');
  const redis = await redisForTest();
  const job = join(folder, 'jobs', 'job.yaml');
  const sources = 'sources: [{ path: ../comments.csv }]\npolicy: ../policy.yaml\noutput: { dir: ../runs }\n';
  await writeFile(job, `${sources}frames: 4\nreuse: false\nmaxWait: 3m\n`);
  const fleet = new Fleet({ redis, out, guards: ['embedded:'] });
  fleet.worker();
  fleet.sink();
  expectStatus(await fleet.enqueue(job).finished(), 0);
  const { config } = JSON.parse(await readFile(join(await onlyRun(out), 'run.json'), 'utf8')) as RunRecord;
  expect(config).toMatchObject({
    ...{ guards: [], canaries: { from: 'workers' }, reuse: false, maxWaitMs: 180_000 },
    judging: { frames: 4, longAudio: 'windows' },
    policy: { thresholds: { default: { block: 0.9 } } },
  });
});
