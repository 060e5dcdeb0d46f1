import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAIN } from './cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** `guardsweep` on the path: a program and not a function, so that a signal reaches it in the background too. */
const PROGRAM = `#!/bin/sh
exec '${process.execPath}' '${MAIN}' "$@"
`;

/** The text of a page; its path is relative to the project. */
export const pageText = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The `sh` blocks of a page. */
export const shellBlocks = (path: string): string[] =>
  [...pageText(path).matchAll(/^```(?:sh|bash|shell)\n([^]*?)^```$/gm)].map(([, block]) => block!);

/** Whether a block is for several machines: test/e2e-fleet runs it. */
export const needsRedis = (block: string): boolean => block.includes('--redis');

/** The lines of a block as one types them, without comments. */
export const typedLines = (block: string): string[] =>
  block.split('\n').map((line) => line.split(' # ')[0]!.trimEnd());

/** A line with the built command line in place of npm: what npm does besides is tested in npm.test.ts. */
export const asBuilt = (line: string): string =>
  line.replace(/npm run (?:-s )?([a-z]+)(?: --)?/g, 'guardsweep $1');

/** A new folder in `parent`, with what the pages take for granted. */
export async function documentedFolder(parent: string): Promise<string> {
  const folder = await mkdtemp(join(parent, 'documented-'));
  await cp(join(ROOT, 'jobs'), join(folder, 'jobs'), { recursive: true });
  await mkdir(join(folder, 'uploads'));
  const comments = 'id,author,text\n1,ann,have a nice day\n2,bob,I will kill you\n3,cy,see you tomorrow\n';
  await writeFile(join(folder, 'uploads/comments.csv'), comments);
  await mkdir(join(folder, 'runs'));
  await cp(join(ROOT, 'docs/images/report.png'), join(folder, 'photo.png'));
  const rows = ['a harmless line', 'another one', 'I will kill you'].map((text) => JSON.stringify({ text }));
  await writeFile(join(folder, 'train.jsonl'), `${rows.join('\n')}\n`);
  return folder;
}

/** Runs a script in a folder; what it started ends when `signal`, that of the test, aborts. */
export async function runScript(
  cwd: string,
  script: string,
  signal: AbortSignal,
): Promise<{ status: number; stdout: string; output: string }> {
  const bin = join(cwd, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'guardsweep'), PROGRAM, { mode: 0o755 });
  const inherited = Object.entries(process.env).filter(([name]) => !/^(GUARD|REDIS|npm_)/.test(name));
  const child = spawn('bash', ['-eu', '-o', 'pipefail', '-c', script], {
    cwd,
    env: {
      ...Object.fromEntries(inherited),
      PATH: `${bin}:${process.env['PATH']}`,
      XDG_STATE_HOME: join(cwd, 'state'),
      npm_lifecycle_event: 'enqueue',
      npm_package_name: 'guardsweep',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that its children end with it.
    detached: true,
  });
  const end = (): void => void process.kill(-child.pid!, 'SIGKILL');
  signal.addEventListener('abort', end);
  let [stdout, output] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(child, 'close');
  signal.removeEventListener('abort', end);
  return { status: child.exitCode ?? -1, stdout, output };
}
