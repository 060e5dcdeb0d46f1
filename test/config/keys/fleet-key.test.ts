import { expect, it } from 'vitest';
import { readFleetKey } from '../../../src/config/keys/fleet-key.ts';
import { parseRedisUrl } from '../../../src/config/values/redis-url.ts';
import { Failure } from '../../../src/domain/failure.ts';

const KEY = 'a5'.repeat(32);
const REMOTE = 'redis://queue-1:6379';

async function keyOf(env: NodeJS.ProcessEnv, { url = REMOTE } = {}) {
  const key = readFleetKey(parseRedisUrl({ value: url, place: '--redis' }, {}), env);
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

it('is refused where it is none, and never quoted', async () => {
  for (const bad of ['secret-word', `${KEY} ${KEY}`, `${KEY}\n${KEY}`, `${KEY}\u00e9`]) {
    const message = await refusal({ GUARDSWEEP_FLEET_KEY: bad }, 'redis://localhost');
    expect(message).not.toContain(bad.slice(0, 8));
  }
});
