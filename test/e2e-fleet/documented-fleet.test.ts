import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/cli.ts';
import {
  asBuilt,
  documentedFolder,
  needsRedis,
  runScript,
  shellBlocks,
  typedLines,
} from '../helpers/documented.ts';
import { redisForTest } from '../helpers/redis/redis.ts';

/** Keeps a process of the fleet in the background, as if it ran on another machine; a feeder only where the page does. */
const inBackground = (line: string): string => {
  if (line.startsWith('nohup ')) return `${line} feeder=$!`;
  return /^guardsweep (worker|sink|scheduler) /.test(line) ? `${line} & fleet="\${fleet:-} $!"` : line;
};

/** The pages with the commands of a fleet: the blocks that run here, how many, and what stands for other machines. */
const PAGES: readonly [path: string, isHere: (block: string) => boolean, count: number][] = [
  ['README.md', needsRedis, 1],
  ['docs/fleet.md', (block) => block.includes('npm run'), 2],
];

/** A line as it runs here: one Redis, the demonstration guard, and folders of the test, for those of other machines. */
const onThisMachine = (line: string, redisUrl: string): string =>
  asBuilt(line)
    .replaceAll(/rediss?:\/\/[^\s]*queue-1:6379/g, redisUrl)
    .replaceAll(/grpc:\/\/[^\s]+/g, 'embedded:')
    .replace('/etc/guardsweep/fleet.key', '"$PWD/fleet.key"')
    .replaceAll(/\/(?:data|mnt)\/(runs|uploads)/g, '"$PWD/$1"')
    .replaceAll(/--metrics-port \d+/g, '--metrics-port 0');

/** Types lines as on the machines of a fleet, and verifies the run that they make; returns what was said. */
async function typedIn(redisUrl: string, lines: readonly string[], run: string, signal: AbortSignal) {
  const script = [
    'openssl rand -hex 32 > fleet.key; chmod 600 fleet.key',
    ...lines.map((line) => inBackground(onThisMachine(line, redisUrl))),
    '[ -z "${feeder:-}" ] || wait $feeder',
    `guardsweep verify runs/*-${run}-*`,
    // The processes of a fleet end when they are told to.
    'kill -TERM $fleet',
    'wait $fleet',
  ].join('\n');
  const folder = await documentedFolder(await temporaryFolder());
  const { status, output } = await runScript(folder, script, signal);
  expect(status, output).toBe(0);
  return output;
}

it.for(PAGES)('the fleet of %s judges a run', async ([path, isHere, count], { signal }) => {
  const redis = await redisForTest({ tcp: true });
  const blocks = shellBlocks(path).filter(isHere);
  expect(blocks).toHaveLength(count);
  const output = await typedIn(redis.url, blocks.flatMap(typedLines), 'uploads', signal);
  expect(output).toContain('-uploads-');
  expect(output).toMatch(/: finished\n {2}100%;/);
  expect(output).toContain('verified: 3 items = 3 verdicts + 0 errors');
});

it('the scheduler of docs/operations.md starts the job files of the repository', async ({ signal }) => {
  const { url } = await redisForTest();
  const [block, ...more] = shellBlocks('docs/operations.md');
  expect(more).toEqual([]);
  const worker = 'guardsweep worker --guard embedded:';
  const fleet = [`export REDIS_URL=${url}`, worker, 'guardsweep sink --root runs'];
  const output = await typedIn(url, [...fleet, ...typedLines(block!)], 'nightly-rescan', signal);
  expect(output).toMatch(/nightly-rescan: 0 2 \* \* \* \(Europe\/London\), next \S+Z\n {2}no run yet/);
  expect(output).toMatch(/verified: \d+ items/);
});
