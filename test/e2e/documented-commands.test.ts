import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'dist/src/cli/main.js');

/** Lines that cannot run as they stand: what they wait for, or the machines they name, are not here. */
const SUBSTITUTIONS: Readonly<Record<string, string>> = {
  'npm run serve': 'ready guardsweep serve --port 0',
  'npm run serve -- --port 9001': 'ready guardsweep serve --port 0',
  'npm run fingerprint -- --guard grpc://127.0.0.1:8001':
    'unreachable guardsweep fingerprint --guard grpc://127.0.0.1:1',
  // A fleet needs machines of its own: its flags are parsed, and nothing is there. Fleets are tested in test/e2e-fleet.
  'npm run worker -- --redis redis://queue-1:6379 --guard grpc://gpu-1:8001':
    'unreachable guardsweep worker --redis redis://127.0.0.1:1 --guard grpc://127.0.0.1:1 --start-wait 1s',
  'npm run sink -- --redis redis://queue-1:6379':
    'unreachable guardsweep sink --redis redis://127.0.0.1:1 --start-wait 1s',
  'npm run enqueue -- ./uploads --redis redis://queue-1:6379 --detach':
    'unreachable guardsweep enqueue ./uploads --redis redis://127.0.0.1:1 --detach --start-wait 1s',
  'npm run status -- --watch': 'guardsweep status',
};

const PRELUDE = `set -eu -o pipefail
guardsweep() { '${process.execPath}' '${MAIN}' "$@"; }
# Waits until a server says where it is, then interrupts it.
ready() {
  '${process.execPath}' '${MAIN}' "\${@:2}" > ready.txt 2>&1 & local server=$!
  until grep -q 'http://' ready.txt; do kill -0 $server; sleep 0.1; done
  kill -INT $server
  wait $server || true
}
# Expects that a service is not there.
unreachable() { local status=0; "$@" || status=$?; [ $status = 4 ]; }
`;

const pages = ['README.md', 'docs/README.md', 'docs/troubleshooting.md'].map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}));

const blocks = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/^```(?:sh|bash|shell)\n([^]*?)^```$/gm)].map(([, block]) => ({ path, block: block! })),
);

const withoutComment = (line: string): string => line.split(' # ')[0]!.trimEnd();

/** The block with the built command line in place of npm: what npm does besides is tested in npm.test.ts. */
function scriptOf(block: string): string {
  return block
    .split('\n')
    .map(withoutComment)
    .map((line) => SUBSTITUTIONS[line] ?? line.replace(/npm run (?:-s )?([a-z]+)(?: --)?/g, 'guardsweep $1'))
    .join('\n');
}

/** A folder with what the pages take for granted. */
async function workingFolder(): Promise<string> {
  const folder = await temporaryFolder();
  await cp(join(ROOT, 'jobs'), join(folder, 'jobs'), { recursive: true });
  await mkdir(join(folder, 'uploads'));
  const comments = [
    'id,author,text',
    '1,ann,have a nice day',
    '2,bob,I will kill you',
    '3,cy,see you tomorrow',
  ];
  await writeFile(join(folder, 'uploads/comments.csv'), `${comments.join('\n')}\n`);
  await mkdir(join(folder, 'runs'));
  await mkdir(join(folder, 'exports'));
  await writeFile(join(folder, 'exports/latin.csv'), Buffer.from('text\ncaf\xe9\nd\xe9j\xe0 vu\n', 'latin1'));
  const rows = ['a harmless line', 'another one', 'I will kill you'].map((text) => JSON.stringify({ text }));
  await writeFile(join(folder, 'train.jsonl'), `${rows.join('\n')}\n`);
  return folder;
}

async function runIn(
  cwd: string,
  block: string,
): Promise<{ status: number; stdout: string; output: string }> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(GUARD|REDIS|npm_)/.test(name));
  const child = spawn('bash', ['-c', `${PRELUDE}${scriptOf(block)}`], {
    cwd,
    env: {
      ...Object.fromEntries(inherited),
      XDG_STATE_HOME: join(cwd, 'state'),
      npm_lifecycle_event: 'enqueue',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, output] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(child, 'close');
  return { status: child.exitCode ?? -1, stdout, output };
}

/** What differs from run to run and from machine to machine. */
const masked = (output: string): string =>
  output
    .replaceAll(/\b\d{8}T\d{6}Z-sample-[0-9a-z]{4}\b/g, 'RUN')
    .replaceAll(/^(\/\S*\/)?runs\/RUN/gm, 'runs/RUN')
    .replaceAll(/^Time: .*/gm, 'Time: …')
    .replaceAll(/^Chain head: [0-9a-f]{64}$/gm, 'Chain head: …');

describe('the commands of the pages', () => {
  it.concurrent.each(blocks)(
    'of $path run: $block',
    async ({ block }) => {
      const { status, output } = await runIn(await workingFolder(), block);
      expect(status, output).toBe(0);
    },
    120_000,
  );

  it('print what the README shows', async () => {
    const [, shown] = /\n```\n(Judged [^]*?)```\n/.exec(pages[0]!.text)!;
    const { stdout } = await runIn(await workingFolder(), 'npm run enqueue -- jobs/sample\n');
    expect(masked(shown!)).toBe(masked(stdout));
  });

  it('have no substitution that no page needs', () => {
    const lines = new Set(blocks.flatMap(({ block }) => block.split('\n').map(withoutComment)));
    expect(Object.keys(SUBSTITUTIONS).filter((line) => !lines.has(line))).toEqual([]);
  });
});
