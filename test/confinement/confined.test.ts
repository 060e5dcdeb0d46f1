import { spawn, spawnSync, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Confinement } from '../../src/confinement/confined.ts';
import { temporaryFolder } from '../helpers/cli.ts';

const BUILT = fileURLToPath(new URL('../../dist/src/confinement/confined.js', import.meta.url));
const MEBIBYTE = 2 ** 20;
const IS_ROOT = process.geteuid!() === 0;
const NOBODY = 65_534;
/** Whether this system lets an ordinary user make a user namespace; many containers do not. */
const MAY_ISOLATE =
  spawnSync('unshare', ['--user', 'true'], IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {}).status === 0;

type Ids = Pick<SpawnOptions, 'uid' | 'gid'>;

interface User {
  readonly who: 'root' | 'an ordinary user';
  readonly ids: Ids;
}

/** Runs a shell script below a process that has a secret in its environment, confined or not. */
const STARTER = `
  import { spawnSync } from 'node:child_process';
  const { confined } = await import(process.env.BUILT);
  const [script, how] = process.argv.slice(-2);
  const options = JSON.parse(how);
  const args = ['-c', script, 'sh', String(process.pid)];
  const line = options === null ? { command: '/bin/sh', args } : confined('/bin/sh', args, options);
  const { stdout } = spawnSync(line.command, line.args, { cwd: '/', env: { PATH: process.env.PATH } });
  process.stdout.write(stdout);
`;

async function below(script: string, how: Confinement | null, ids: Ids, path = process.env['PATH']) {
  const args = ['--input-type=module', '-e', STARTER, '--', script, JSON.stringify(how)];
  const env = { PATH: path, BUILT, GUARD_API_KEY: 'secret' };
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const starter = spawn(process.execPath, args, { env, stdio: [...stdio], cwd: '/', ...ids });
  onTestFinished(() => void starter.kill('SIGKILL'));
  let stdout = '';
  starter.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  await once(starter, 'close');
  return stdout;
}

const LOOK = `
  grep -q secret "/proc/$1/environ" 2>/dev/null && echo environment
  head -c 1 "/proc/$1/mem" 2>&1 | grep -q Permission || echo memory
  echo done
`;

const ordinary: User = { who: 'an ordinary user', ids: IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {} };
const users: readonly User[] = IS_ROOT ? [{ who: 'root', ids: {} }, ordinary] : [ordinary];

/** What a program may use, and open any file. */
const bounded = (mebibytes = 512): Confinement => ({ memoryBytes: mebibytes * MEBIBYTE, reads: null });

describe.each(users)('started by $who', ({ who, ids }) => {
  const isIsolated = who === 'root' || MAY_ISOLATE;

  it.runIf(isIsolated).each([
    ['reads certain files', []],
    ['opens any file', null],
  ])('a program that %s sees nothing of the process that started it', async (_, reads) => {
    expect(await below(LOOK, null, ids)).toBe('environment\nmemory\ndone\n');
    expect(await below(LOOK, { ...bounded(), reads }, ids)).toBe('done\n');
  });

  it('a program cannot allocate more than it may', async () => {
    const allocate = `"${process.execPath}" -e 'Buffer.alloc(400 * 2 ** 20, 1); console.log("allocated")' 2>/dev/null; echo done`;
    expect(await below(allocate, bounded(800), ids)).toBe('allocated\ndone\n');
    expect(await below(allocate, bounded(300), ids)).toBe('done\n');
  });

  it('where the system ends whoever asks for a namespace, the other bounds are set', async () => {
    const bin = await temporaryFolder();
    await chmod(bin, 0o755);
    await writeFile(join(bin, 'unshare'), '#!/bin/sh\nkill -KILL $$\n', { mode: 0o755 });
    const path = `${bin}:${process.env['PATH']}`;
    const status = await below('grep NoNewPrivs /proc/self/status', bounded(), ids, path);
    expect(status).toBe('NoNewPrivs:\t1\n');
  });

  it('a program writes no core file, and nothing that it starts gains rights', async () => {
    const script = 'ulimit -c; grep NoNewPrivs /proc/self/status';
    expect(await below(script, bounded(), ids)).toBe('0\nNoNewPrivs:\t1\n');
  });
});

it.runIf(IS_ROOT)('what root starts can open nothing of root, unless it needs that', async () => {
  const needed = join(await temporaryFolder(), 'needed'); // in a folder of root alone
  await writeFile(needed, 'content');
  const open = (reads: readonly string[] | null): Promise<string> =>
    below(`cat ${needed} 2>/dev/null; echo done`, { ...bounded(), reads }, {});
  expect(await open(['/bin/sh'])).toBe('done\n');
  expect(await open([needed])).toBe('contentdone\n');
  expect(await open(null)).toBe('contentdone\n');
});

const HIDE_SHELL = 'mount --bind /dev/null "$(readlink -f /bin/sh)" && exec "$@"';
/** Runs a program where there is no shell. */
const SHELL_LESS = ['unshare', '--mount', 'sh', '-c', HIDE_SHELL, 'sh'];
const MAY_HIDE_SHELL =
  IS_ROOT && spawnSync(SHELL_LESS[0]!, [...SHELL_LESS.slice(1), process.execPath, '-e', '']).status === 0;

it.runIf(MAY_HIDE_SHELL)('a program runs where there is no shell', async () => {
  const starter = `
    import { spawnSync } from 'node:child_process';
    const { confined } = await import(process.env.BUILT);
    const line = confined(process.execPath, ['-p', '1'], { memoryBytes: 2 ** 30, reads: null });
    process.stdout.write(spawnSync(line.command, line.args, { env: {} }).stdout ?? 'nothing');
  `;
  const [command, ...args] = [...SHELL_LESS, process.execPath, '--input-type=module', '-e', starter];
  const { stdout } = spawnSync(command, args, { env: { ...process.env, BUILT } });
  expect(String(stdout)).toBe('1\n');
});
