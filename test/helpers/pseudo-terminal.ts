import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { shellWord } from '../../src/domain/text/escape-text.ts';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

interface Terminal {
  readonly cwd: string;
  readonly columns: number;
  readonly rows: number;
}

/** Runs the built command line on a pseudo-terminal, with `script` of util-linux, and returns what it wrote there. */
export async function onTerminal(args: readonly string[], { cwd, columns, rows }: Terminal): Promise<string> {
  const command = [process.execPath, MAIN, ...args].map(shellWord).join(' ');
  const inherited = Object.entries(process.env).filter(([name]) => !/^(GUARD|REDIS|npm_)/.test(name));
  const child = spawn(
    'script',
    ['-qefc', `stty cols ${columns} rows ${rows}; exec ${command}`, '/dev/null'],
    {
      cwd,
      env: { ...Object.fromEntries(inherited), TERM: 'xterm-256color' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more));
  await once(child, 'close');
  return text;
}
