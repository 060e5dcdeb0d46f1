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
