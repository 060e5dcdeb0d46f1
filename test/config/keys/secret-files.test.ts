import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { readSecretFiles } from '../../../src/config/keys/secret-files.ts';
import { SECRETS } from '../../../src/config/settings/entries/environment.ts';
import { typed } from '../../cli/terminal.ts';
import { temporaryFolder } from '../../helpers/cli.ts';

const SECRET = 'a-secret-of-an-operator';

async function secretFile(text = SECRET): Promise<{ folder: string; path: string }> {
  const folder = await temporaryFolder();
  const path = join(folder, 'secret');
  await writeFile(path, text, { mode: 0o600 });
  return { folder, path };
}

describe('a secret from a file', () => {
  test.each(SECRETS.map((name) => name.replace('<HOST>', 'GPU_1')))('stands for %s', async (name) => {
    const { folder, path } = await secretFile();
    const env = { [`${name}_FILE`]: path, HOME: '/root' };
    expect(await readSecretFiles(env, folder)).toEqual({ [name]: SECRET, HOME: '/root' });
  });

  test.each([`${SECRET}\n`, `${SECRET}\r\n`])('ends before the end of its line (%j)', async (text) => {
    const { folder, path } = await secretFile(text);
    expect(await readSecretFiles({ REDIS_URL_FILE: path }, folder)).toEqual({ REDIS_URL: SECRET });
  });

  it('is relative to the working directory, and may be for a group, as it is mounted for a user', async () => {
    const { folder, path } = await secretFile();
    await chmod(path, 0o440);
    expect(await readSecretFiles({ GUARD_TOKEN_FILE: 'secret', GUARD_TOKEN: '' }, folder)).toEqual({
      GUARD_TOKEN: SECRET,
    });
  });
});

it('a file that holds no usable secret ends every command with status 2, which names the variable, and quotes nothing', async () => {
  const { folder, path } = await secretFile();
  const open = join(folder, 'open');
  await writeFile(open, SECRET);
  await chmod(open, 0o644);
  await writeFile(join(folder, 'large'), SECRET.repeat(1000), { mode: 0o600 });
  const run = join(folder, 'run');
  await mkdir(run);
  await writeFile(join(run, 'run.json'), '{}');
  await writeFile(join(run, 'secret'), SECRET, { mode: 0o600 });
  const cases: [env: NodeJS.ProcessEnv, says: RegExp][] = [
    [{ GUARD_API_KEY_FILE: path, GUARD_API_KEY: SECRET }, /GUARD_API_KEY is set as well/],
    [{ GUARD_API_KEY_FILE: join(folder, 'none') }, /cannot be read \(ENOENT\)/],
    [{ GUARD_API_KEY_FILE: folder }, /not an ordinary file/],
    [{ GUARD_API_KEY_FILE: open }, /chmod 600/],
    [{ GUARD_API_KEY_FILE: join(folder, 'large') }, /more than 16384 bytes/],
    [{ GUARD_API_KEY_FILE: join(run, 'secret') }, /in the run directory/],
  ];
  for (const [env, says] of cases) {
    const done = await typed(['status', '--out', folder], { context: { env } });
    expect(done.status, done.stderr).toBe(2);
    expect(done.stderr).toMatch(/^guardsweep: GUARD_API_KEY_FILE: /);
    expect(done.stderr).toMatch(says);
    expect(done.stdout + done.stderr).not.toContain(SECRET);
  }
});
