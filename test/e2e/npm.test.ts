import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { folderWith, temporaryFolder } from '../helpers/cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Said {
  readonly status: number;
  readonly stdout: string;
  /** The lines of guardsweep. */
  readonly stderr: string[];
}

/** Runs the real npm in a folder, with the scripts of this package. */
function npm(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Said> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(GUARD|REDIS|npm_|INIT_CWD)/.test(name),
  );
  return new Promise((resolve) => {
    const child = execFile(
      'npm',
      ['--prefix', ROOT, ...args],
      { cwd, env: { ...Object.fromEntries(inherited), ...env }, encoding: 'utf8' },
      (_, stdout, stderr) => {
        const lines = stderr.split('\n').filter((line) => line.startsWith('guardsweep: '));
        resolve({ status: child.exitCode ?? -1, stdout, stderr: lines });
      },
    );
  });
}

it('a flag that npm took for itself is refused', async () => {
  const { status, stderr } = await npm(await temporaryFolder(), 'run enqueue ./x --policy p'.split(' '));
  const said = expect.stringContaining('npm run enqueue -- --policy') as string;
  expect({ status, stderr }).toEqual({ status: 2, stderr: [said] });
});

it('what is set for npm, and arguments without flags, pass', async () => {
  const folder = await folderWith({ 'a.csv': 'text\nhello there\n' });
  const env = {
    npm_config_loglevel: 'warn',
    npm_config_json: 'true',
    npm_config_userconfig: join(folder, 'rc'),
  };
  await writeFile(join(folder, 'rc'), 'yes=true\nquiet=true\naudit=false\n');
  const { status, stderr, stdout } = await npm(folder, ['run', '-s', 'enqueue', 'a.csv'], env);
  expect({ status, took: stderr.filter((line) => line.includes('npm took')) }).toEqual({
    status: 0,
    took: [],
  });
  expect(stdout).toContain(`${join(folder, 'runs')}/`);
  const quiet = await npm(folder, ['run', '-s', 'enqueue', '--', 'a.csv', '--quiet', '--json'], env);
  expect({ status: quiet.status, stderr: quiet.stderr }).toEqual({ status: 0, stderr: [] });
  expect(JSON.parse(quiet.stdout)).toMatchObject({ items: 1 });
});
