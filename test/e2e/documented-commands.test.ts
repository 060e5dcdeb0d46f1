import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  asBuilt,
  documentedFolder,
  needsRedis,
  pageText,
  runScript,
  shellBlocks,
  typedLines,
} from '../helpers/documented.ts';

/** Lines that cannot run as they stand: they wait to be interrupted, or name a guard that is not here. */
const SUBSTITUTIONS: Readonly<Record<string, string>> = {
  'npm run serve': 'ready serve --port 0',
  'npm run serve -- --port 9001': 'ready serve --port 0',
  'npm run fingerprint -- --guard grpc://127.0.0.1:8001':
    'unreachable fingerprint --guard grpc://127.0.0.1:1',
};

const FUNCTIONS = `# Waits until a server says where it is, then interrupts it.
ready() {
  guardsweep "$@" > ready.txt 2>&1 & local server=$!
  until grep -q 'http://' ready.txt; do kill -0 $server; sleep 0.1; done
  kill -INT $server
  wait $server || true
}
# Expects that a service is not there.
unreachable() { local status=0; guardsweep "$@" || status=$?; [ $status = 4 ]; }
`;

const blocks = ['README.md', 'docs/README.md', 'docs/troubleshooting.md'].flatMap((path) =>
  shellBlocks(path)
    .filter((block) => !needsRedis(block))
    .map((block) => ({ path, block })),
);

const scriptOf = (block: string): string =>
  FUNCTIONS +
  typedLines(block)
    .map((line) => SUBSTITUTIONS[line] ?? asBuilt(line))
    .join('\n');

/** What differs from run to run and from machine to machine. */
const masked = (output: string): string =>
  output
    .replaceAll(/\b\d{8}T\d{6}Z-sample-[0-9a-z]{4}\b/g, 'RUN')
    .replaceAll(/^(\/\S*\/)?runs\/RUN/gm, 'runs/RUN')
    .replaceAll(/^Time: .*/gm, 'Time: …')
    .replaceAll(/^Chain head: [0-9a-f]{64}$/gm, 'Chain head: …');

// One for all tests: they run at the same time, so none of them may remove a folder when it ends.
const parent = mkdtempSync(join(tmpdir(), 'guardsweep-test-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

describe('the commands of the pages', () => {
  it.concurrent.for(blocks)('of $path run: $block', { timeout: 120_000 }, async ({ block }, { signal }) => {
    const { status, output } = await runScript(await documentedFolder(parent), scriptOf(block), signal);
    expect(status, output).toBe(0);
  });

  it('print what the README shows', async ({ signal }) => {
    const [, shown] = /\n```\n(Judged [^]*?)```\n/.exec(pageText('README.md'))!;
    const { stdout } = await runScript(
      await documentedFolder(parent),
      'guardsweep enqueue jobs/sample',
      signal,
    );
    expect(masked(shown!)).toBe(masked(stdout));
  });

  it('have no substitution that no page needs', () => {
    const lines = new Set(blocks.flatMap(({ block }) => typedLines(block)));
    expect(Object.keys(SUBSTITUTIONS).filter((line) => !lines.has(line))).toEqual([]);
  });
});
