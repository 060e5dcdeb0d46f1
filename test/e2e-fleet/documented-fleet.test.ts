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

/** Keeps a process of the fleet in the background, as if it ran on another machine; a feeder only where the page does. */
const inBackground = (line: string): string => {
  if (line.startsWith('nohup ')) return `${line} feeder=$!`;
  return /^guardsweep (worker|sink) /.test(line) ? `${line} & fleet="\${fleet:-} $!"` : line;
};

/** The pages with the commands of a fleet: the blocks that run here, how many, and what stands for other machines. */
const PAGES = [
  { path: 'README.md', blocks: shellBlocks('README.md').filter(needsRedis), count: 1 },
  {
    path: 'docs/fleet.md',
    blocks: shellBlocks('docs/fleet.md').filter((block) => block.includes('npm run')),
    count: 2,
  },
] as const;

/** A line as it runs here: one Redis, the demonstration guard, and folders of the test, for those of other machines. */
const onThisMachine = (line: string, redisUrl: string): string =>
  asBuilt(line)
    .replaceAll(/rediss?:\/\/[^\s]*queue-1:6379/g, redisUrl)
    .replaceAll(/grpc:\/\/[^\s]+/g, 'embedded:')
    .replace('/etc/guardsweep/fleet.key', '"$PWD/fleet.key"')
    .replaceAll(/\/(?:data|mnt)\/(runs|uploads)/g, '"$PWD/$1"')
    .replaceAll(/--metrics-port \d+/g, '--metrics-port 0');

it.for(PAGES)('the fleet of $path judges a run', async ({ blocks, count }, { signal }) => {
  const redis = await redisForTest({ tcp: true });
  expect(blocks).toHaveLength(count);
  const typed = blocks.flatMap(typedLines).map((line) => onThisMachine(line, redis.url));
  const script = [
    'openssl rand -hex 32 > fleet.key; chmod 600 fleet.key',
    ...typed.map(inBackground),
    '[ -z "${feeder:-}" ] || wait $feeder',
    'guardsweep verify runs/*-uploads-*',
    // The processes of a fleet end when they are told to.
    'kill -TERM $fleet',
    'wait $fleet',
  ].join('\n');
  const folder = await documentedFolder(await temporaryFolder());
  const { status, output } = await runScript(folder, script, signal);
  expect(status, output).toBe(0);
  expect(output).toContain('-uploads-');
  expect(output).toMatch(/: finished\n {2}100%;/);
  expect(output).toContain('verified: 3 items = 3 verdicts + 0 errors');
});

it('the scheduler of docs/operations.md starts the job files of the repository', async ({ signal }) => {
  const redis = await redisForTest();
  const [block, ...more] = shellBlocks('docs/operations.md');
  expect(more).toEqual([]);
  const inBackground = (line: string): string =>
    line.startsWith('guardsweep scheduler') ? `${line} & fleet="$fleet $!"` : line;
  const script = [
    `export REDIS_URL=${redis.url}`,
    'guardsweep worker --guard embedded: & fleet=$!',
    'guardsweep sink --root runs & fleet="$fleet $!"',
    ...typedLines(block!).map((line) =>
      inBackground(asBuilt(line).replace(/--metrics-port \d+/, '--metrics-port 0')),
    ),
    'guardsweep verify runs/*-nightly-rescan-*',
    'kill -TERM $fleet',
    'wait $fleet',
  ].join('\n');
  const folder = await documentedFolder(await temporaryFolder());
  const { status, output } = await runScript(folder, script, signal);
  expect(status, output).toBe(0);
  expect(output).toMatch(/nightly-rescan: 0 2 \* \* \* \(Europe\/London\), next \S+Z\n {2}no run yet/);
  expect(output).toMatch(/verified: \d+ items/);
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
    judging: { frames: 4, longAudio: 'windows', videoInterval: 5, videoFrames: 64 },
    policy: { thresholds: { default: { block: 0.9 } } },
  });
});
