import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/cli.ts';
import { freePort } from '../helpers/redis/redis.ts';
import { typed } from '../cli/terminal.ts';

const REMOTE = 'redis://192.0.2.1:6379';
const STRONG = '0123456789abcdef'.repeat(4);

/** What `doctor` finds of the fleet key; nobody answers as Redis. */
async function found(url: string, env: NodeJS.ProcessEnv): Promise<unknown> {
  const out = await temporaryFolder();
  const argv = ['doctor', '--json', '--redis', url, '--out', out];
  const { stdout } = await typed(argv, { context: { env } });
  expect(stdout).not.toContain('0123456789abcdef');
  return (JSON.parse(stdout) as { what: string }[]).find(({ what }) => what === 'fleet key');
}

const local = async (): Promise<string> => `redis://127.0.0.1:${await freePort()}`;

it('a key is set, and strong', async () => {
  expect(await found(await local(), { GUARDSWEEP_FLEET_KEY: STRONG })).toMatchObject({
    ok: true,
    found: 'set',
  });
});

it('a Redis on this machine needs none', async () => {
  expect(await found(await local(), {})).toMatchObject({
    ok: true,
    found: expect.stringMatching(/^none/) as unknown,
  });
});

it('a Redis on another machine needs one', { timeout: 20_000 }, async () => {
  expect(await found(REMOTE, {})).toMatchObject({
    ok: false,
    todo: expect.stringMatching(/openssl rand/) as unknown,
  });
});

it.each(['short', 'a5'.repeat(32), 'two words that are long enough for it'])(
  'the key %j is none, or weak',
  async (key) => {
    expect(await found(await local(), { GUARDSWEEP_FLEET_KEY: key })).toMatchObject({ ok: false });
  },
);

it('one in a file that every user can read is refused', async () => {
  const path = join(await temporaryFolder(), 'key');
  await writeFile(path, STRONG, { mode: 0o644 });
  const check = await found(await local(), { GUARDSWEEP_FLEET_KEY_FILE: path });
  expect(check).toMatchObject({
    ok: false,
    found: expect.stringMatching(/open to every user/) as unknown,
  });
});
