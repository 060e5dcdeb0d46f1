import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFleetKey } from '../../../src/config/keys/fleet-key.ts';
import { parseRedisUrl } from '../../../src/config/values/redis-url.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { temporaryFolder } from '../../helpers/cli.ts';

const KEY = 'a5'.repeat(32);
const REMOTE = 'redis://queue-1:6379';

async function keyOf(env: NodeJS.ProcessEnv, { url = REMOTE } = {}) {
  const key = await readFleetKey(parseRedisUrl({ value: url, place: '--redis' }, {}), env);
  return key === null ? null : key.export().toString();
}

async function refusal(env: NodeJS.ProcessEnv, url = REMOTE): Promise<string> {
  const error = await keyOf(env, { url }).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Failure);
  expect((error as Failure).exitStatus).toBe(2);
  return (error as Failure).message;
}

it('a Redis on another machine needs a key, and is told what to do', async () => {
  const message = await refusal({});
  expect(message).toContain('GUARDSWEEP_FLEET_KEY');
  expect(message).toContain('openssl rand -hex 32');
});

it.each(['redis://localhost:6379', 'redis://127.0.0.1:6379', 'redis://[::1]:6379', 'unix:///run/redis.sock'])(
  '%s needs none',
  async (url) => {
    expect(await keyOf({}, { url })).toBeNull();
    expect(await keyOf({ GUARDSWEEP_FLEET_KEY: KEY }, { url })).toBe(KEY);
  },
);

it('comes from a file, without the end of its line', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'key');
  await writeFile(path, `${KEY}\n`, { mode: 0o600 });
  expect(await keyOf({ GUARDSWEEP_FLEET_KEY_FILE: path })).toBe(KEY);
  await chmod(path, 0o440);
  expect(await keyOf({ GUARDSWEEP_FLEET_KEY_FILE: path })).toBe(KEY);
  await chmod(path, 0o644);
  expect(await refusal({ GUARDSWEEP_FLEET_KEY_FILE: path })).toContain('open to every user');
});

it('is refused where it is none, and never quoted', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'key');
  await writeFile(path, 'x'.repeat(5000), { mode: 0o600 });
  await mkdir(join(folder, 'folder'));
  expect(await refusal({ GUARDSWEEP_FLEET_KEY_FILE: path })).toContain('more than 4096 bytes');
  expect(await refusal({ GUARDSWEEP_FLEET_KEY_FILE: join(folder, 'folder') })).toContain(
    'not an ordinary file',
  );
  expect(await refusal({ GUARDSWEEP_FLEET_KEY_FILE: join(folder, 'nothing') })).toContain('ENOENT');
  expect(await refusal({ GUARDSWEEP_FLEET_KEY: KEY, GUARDSWEEP_FLEET_KEY_FILE: path })).toContain(
    'unset one',
  );
  for (const bad of ['secret-word', `${KEY} ${KEY}`, `${KEY}\n${KEY}`, `${KEY}\u00e9`]) {
    const message = await refusal({ GUARDSWEEP_FLEET_KEY: bad }, 'redis://localhost');
    expect(message).not.toContain(bad.slice(0, 8));
  }
});
