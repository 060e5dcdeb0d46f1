import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { folderWith, temporaryFolder } from '../helpers/cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the real npm in a folder, with the scripts of this package; of stderr, it returns the lines of guardsweep. */
function npm(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(GUARD|REDIS|npm_|INIT_CWD)/.test(name),
  );
  const options = { cwd, env: { ...Object.fromEntries(inherited), ...env } };
  return new Promise<{ status: number | null; stdout: string; stderr: string[] }>((resolve) => {
    const child = execFile('npm', ['--prefix', ROOT, ...args], options, (_, stdout, stderr) => {
      const lines = stderr.split('\n').filter((line) => line.startsWith('guardsweep: '));
      resolve({ status: child.exitCode, stdout, stderr: lines });
    });
  });
}

it('a flag that npm took for itself is refused', async () => {
  const { status, stderr } = await npm(await temporaryFolder(), 'run enqueue ./x --policy p'.split(' '));
  const said = expect.stringContaining('npm run enqueue -- --policy') as string;
  expect({ status, stderr }).toEqual({ status: 2, stderr: [said] });
});

it('what is set for npm, and arguments without flags, pass', async () => {
  const folder = await folderWith({ 'a.csv': 'text\nhello there\n' });
  const userconfig = { npm_config_userconfig: join(folder, 'rc') };
  const env = { npm_config_loglevel: 'warn', npm_config_json: 'true', ...userconfig };
  await writeFile(join(folder, 'rc'), 'yes=true\nquiet=true\naudit=false\n');
  const { status, stderr, stdout } = await npm(folder, ['run', '-s', 'enqueue', 'a.csv'], env);
  const took = stderr.filter((line) => line.includes('npm took'));
  expect({ status, took }).toEqual({ status: 0, took: [] });
  expect(stdout).toContain(`${join(folder, 'runs')}/`);
  const quiet = await npm(folder, ['run', '-s', 'enqueue', '--', 'a.csv', '--quiet', '--json'], env);
  expect({ status: quiet.status, stderr: quiet.stderr }).toEqual({ status: 0, stderr: [] });
  expect(JSON.parse(quiet.stdout)).toMatchObject({ items: 1 });
});
