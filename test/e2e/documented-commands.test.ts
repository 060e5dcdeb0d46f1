import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sharedFolder } from '../helpers/cli.ts';
import {
  asBuilt,
  documentedFolder,
  needsRedis,
  pageText,
  runScript,
  shellBlocks,
  typedLines,
} from '../helpers/documented.ts';

/** Pages whose commands do not run here, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/audit.md': 'test/e2e/audit-by-hand.test.ts runs them',
  'docs/record.md': 'they work on files of a record, and test/e2e/audit-by-hand.test.ts does the same',
  'docs/benchmarks.md': 'they measure for minutes',
  'docs/operations.md': 'test/e2e-fleet/documented-fleet.test.ts runs them',
  'docs/fleet.md': 'documented-fleet.test.ts and compose.test.ts in test/e2e-fleet run them',
};

/** Lines that cannot run as they stand: they wait to be interrupted, or name a guard that is not here. */
const SUBSTITUTIONS: Readonly<Record<string, string>> = {
  'npm run serve': 'ready serve --port 0',
  'npm run serve -- --guard grpc://gpu-1:8001': 'listening serve --guard embedded: --port 0',
  'npm run enqueue -- jobs/guards/llama-guard.yaml':
    'guardsweep enqueue jobs/guards/llama-guard.yaml --guard embedded:',
};

const FUNCTIONS = `# Starts a server and waits until it prints its address.
listening() {
  rm -f ready.txt
  guardsweep "$@" > ready.txt 2>&1 & server=$!
  until grep -q 'http://' ready.txt 2> /dev/null; do kill -0 $server; sleep 0.1; done
  address=$(grep -o 'http://[0-9.:]*' ready.txt | head -n 1)
}
# Waits until a server prints its address, then interrupts it.
ready() { listening "$@"; kill -INT $server; wait $server || true; }
# Asks a server that is ready, and fails for a status that is not 2xx.
curl() {
  until command curl -fs "$address/readyz" > /dev/null; do kill -0 $server; sleep 0.1; done
  command curl -fsS "$@"
}
trap 'kill \${server:-} 2> /dev/null || true' EXIT
`;

const documents = readdirSync(join(import.meta.dirname, '../../docs')).filter((name) => name.endsWith('.md'));
const withCommands = ['README.md', ...documents.map((name) => `docs/${name}`)].filter(
  (path) => shellBlocks(path).length > 0,
);
const pages = withCommands
  .filter((path) => !Object.hasOwn(ELSEWHERE, path))
  .map((path) => ({ path, blocks: shellBlocks(path).filter((block) => !needsRedis(block)) }));

/** A line as it runs here: the demonstration guard takes the place of a guard on another machine. */
const runnable = (line: string): string =>
  SUBSTITUTIONS[line] ??
  asBuilt(line)
    .replaceAll(/'?(?:grpc|openai\+http):\/\/gpu-[^\s']+'?/g, 'embedded:')
    .replaceAll('http://127.0.0.1:9000', '$address');

/** What differs from run to run and from machine to machine. */
const masked = (output: string): string =>
  output
    .replaceAll(/\b\d{8}T\d{6}Z-sample-[0-9a-z]{4}\b/g, 'RUN')
    .replaceAll(/^(\/\S*\/)?runs\/RUN/gm, 'runs/RUN')
    .replaceAll(/^Time: .*/gm, 'Time: …')
    .replaceAll(/^Chain head: [0-9a-f]{64}$/gm, 'Chain head: …');

// One for all tests: they run at the same time, so none of them may remove a folder when it ends.
const parent = sharedFolder();

describe('the commands of the pages', () => {
  it.concurrent.for(pages)(
    'of $path run, one after another',
    { timeout: 480_000 },
    async ({ blocks }, { signal }) => {
      const script = FUNCTIONS + blocks.flatMap(typedLines).map(runnable).join('\n');
      const { status, output } = await runScript(await documentedFolder(parent), script, signal);
      expect(status, output).toBe(0);
    },
  );

  it('print what the README shows', async ({ signal }) => {
    const [, shown] = /\n```\n(Judged [^]*?)```\n/.exec(pageText('README.md'))!;
    const folder = await documentedFolder(parent);
    const { stdout } = await runScript(folder, 'guardsweep enqueue jobs/sample', signal);
    expect(masked(shown!)).toBe(masked(stdout));
  });

  it('have no substitution that no page needs, and no exception for a page without commands', () => {
    const lines = new Set(pages.flatMap(({ blocks }) => blocks.flatMap(typedLines)));
    expect(Object.keys(SUBSTITUTIONS).filter((line) => !lines.has(line))).toEqual([]);
    expect(Object.keys(ELSEWHERE).filter((path) => !withCommands.includes(path))).toEqual([]);
  });
});
