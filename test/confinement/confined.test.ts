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

/** Runs a shell script, each way, below a process that has a secret in its environment. */
const STARTER = `
  import { spawnSync } from 'node:child_process';
  const { confined } = await import(process.env.BUILT);
  const [script, ways] = process.argv.slice(-2);
  const args = ['-c', script, 'sh', String(process.pid)];
  const printed = JSON.parse(ways).map((options) => {
    const line = options === null ? { command: '/bin/sh', args } : confined('/bin/sh', args, options);
    return String(spawnSync(line.command, line.args, { cwd: '/', env: { PATH: process.env.PATH } }).stdout);
  });
  process.stdout.write(JSON.stringify(printed));
`;

type Ways = readonly (Confinement | null)[];

/** What the script prints, each way. */
async function below(script: string, ways: Ways, ids: Ids, path = process.env['PATH']) {
  const args = ['--input-type=module', '-e', STARTER, '--', script, JSON.stringify(ways)];
  const env = { PATH: path, BUILT, GUARD_API_KEY: 'secret' };
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const starter = spawn(process.execPath, args, { env, stdio: [...stdio], cwd: '/', ...ids });
  onTestFinished(() => void starter.kill('SIGKILL'));
  let stdout = '';
  starter.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  await once(starter, 'close');
  return JSON.parse(stdout) as unknown;
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

  const title =
    'a program that reads certain files, or opens any, sees nothing of the process that started it';
  it.runIf(isIsolated)(title, async () => {
    const seen = await below(LOOK, [null, { ...bounded(), reads: [] }, bounded()], ids);
    expect(seen).toEqual(['environment\nmemory\ndone\n', 'done\n', 'done\n']);
  });

  it('a program cannot allocate more than it may', async () => {
    const allocate = `"${process.execPath}" -e 'Buffer.alloc(250 * 2 ** 20, 1); console.log("allocated")' 2>/dev/null; echo done`;
    const printed = await below(allocate, [bounded(600), bounded(256)], ids);
    expect(printed).toEqual(['allocated\ndone\n', 'done\n']);
  });

  it('where the system ends whoever asks for a namespace, the other bounds are set', async () => {
    const bin = await temporaryFolder();
    await chmod(bin, 0o755);
    await writeFile(join(bin, 'unshare'), '#!/bin/sh\nkill -KILL $$\n', { mode: 0o755 });
    const path = `${bin}:${process.env['PATH']}`;
    const status = await below('grep NoNewPrivs /proc/self/status', [bounded()], ids, path);
    expect(status).toEqual(['NoNewPrivs:\t1\n']);
  });

  it('a program writes no core file, and nothing that it starts gains rights', async () => {
    const script = 'ulimit -c; grep NoNewPrivs /proc/self/status';
    expect(await below(script, [bounded()], ids)).toEqual(['0\nNoNewPrivs:\t1\n']);
  });
});

it.runIf(IS_ROOT)('what root starts can open nothing of root, unless it needs that', async () => {
  const needed = join(await temporaryFolder(), 'needed'); // in a folder of root alone
  await writeFile(needed, 'content');
  const ways = [['/bin/sh'], [needed], null].map((reads) => ({ ...bounded(), reads }));
  const printed = await below(`cat ${needed} 2>/dev/null; echo done`, ways, {});
  expect(printed).toEqual(['done\n', 'contentdone\n', 'contentdone\n']);
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
