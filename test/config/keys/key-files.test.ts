import { execFileSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { resolveGuardTlsFiles, readGuardTls } from '../../../src/config/keys/guard-tls.ts';
import type { Flags } from '../../../src/config/settings/given.ts';
import { readSecretFiles } from '../../../src/config/keys/secret-files.ts';
import { SECRETS } from '../../../src/config/settings/entries/environment.ts';
import { type Certificate, issueCertificate, makeCertificate } from '../../helpers/certificate.ts';
import { typed } from '../../cli/terminal.ts';
import { folderWith, sharedFolder, writeFiles } from '../../helpers/cli.ts';

const cwd = sharedFolder();
let authority: Certificate;
let client: Certificate;
beforeAll(async () => {
  authority = await makeCertificate(cwd, '127.0.0.1');
  client = await issueCertificate(cwd, 'client', authority, '127.0.0.1');
});

async function read(flags: Flags, guards = ['grpcs://gpu-1:8001']) {
  return readGuardTls(await resolveGuardTlsFiles({ flags, env: {}, cwd }), guards);
}

describe('the files for TLS connections to guards', () => {
  it('are named by flags, relative to the working directory', async () => {
    const flags = { guardCa: 'certificate.pem', guardCert: 'client.pem', guardKey: 'client.key' };
    const ca = authority.certificate.toString();
    const pair = { cert: client.certificate.toString(), key: client.key.toString() };
    expect(await read(flags)).toEqual({ ca, ...pair });
    expect(await read({ guardCa: 'certificate.pem' })).toEqual({ ca });
    expect(await read({})).toEqual({});
  });

  it('name a certificate with its key, and hold what they are named for; a key is never quoted', async () => {
    const pass = ['-aes128', '-passout', 'pass:x'];
    execFileSync('openssl', ['pkey', '-in', client.keyPath, ...pass, '-out', join(cwd, 'encrypted.key')]);
    await writeFile(join(cwd, 'broken.pem'), authority.certificate.toString().replace('MII', 'XXX'));
    await writeFile(join(cwd, 'empty.pem'), '');
    const mistakes: [flags: Flags, says: RegExp][] = [
      [{ guardCert: 'client.pem' }, /^--guard-cert: name its private key as well, with --guard-key/],
      [{ guardKey: client.keyPath }, /^--guard-key: name its certificate as well, with --guard-cert/],
      [
        { guardCert: 'client.pem', guardKey: 'certificate.key' },
        /^--guard-key: .*certificate\.key is not the key of the certificate in .*client\.pem$/,
      ],
      [{ guardCa: 'nowhere.pem' }, /nowhere\.pem cannot be read \(ENOENT\)/],
      [{ guardCa: 'client.key' }, /client\.key holds no certificate in PEM/],
      [{ guardCa: 'broken.pem' }, /broken\.pem holds a certificate that cannot be read/],
      [{ guardCert: 'client.pem', guardKey: 'empty.pem' }, /empty\.pem holds no unencrypted private key/],
      [
        { guardCert: 'client.pem', guardKey: 'encrypted.key' },
        /encrypted\.key holds no unencrypted private key/,
      ],
    ];
    await chmod(join(cwd, 'empty.pem'), 0o600);
    for (const [flags, says] of mistakes) {
      const error = (await read(flags).catch((reason: unknown) => reason)) as Error;
      expect(error).toMatchObject({ kind: 'usage', message: expect.stringMatching(says) as string });
      expect(error.message).not.toContain('-----BEGIN');
      expect(error.message).not.toContain((await readFile(client.keyPath, 'utf8')).split('\n')[1]);
    }
  });

  it('keep the key from other users', async () => {
    const path = join(cwd, 'open.key');
    await writeFile(path, client.key);
    await chmod(path, 0o644);
    const pair = { guardCert: 'client.pem', guardKey: 'open.key' };
    await expect(read(pair)).rejects.toThrow(/open to every user/);
    await chmod(path, 0o440);
    expect(await read(pair)).toHaveProperty('key');
  });
});

const SECRET = 'a-secret-of-an-operator';

async function secretFile(text = SECRET): Promise<{ folder: string; path: string }> {
  const folder = await folderWith({ secret: text });
  await chmod(join(folder, 'secret'), 0o600);
  return { folder, path: join(folder, 'secret') };
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
    const env = { GUARD_TOKEN_FILE: 'secret', GUARD_TOKEN: '' };
    expect(await readSecretFiles(env, folder)).toEqual({ GUARD_TOKEN: SECRET });
  });
});

it('a file that holds no usable secret ends every command with status 2, which names the variable, and quotes nothing', async () => {
  const { folder, path } = await secretFile();
  const files = { large: SECRET.repeat(1000), open: SECRET, 'run/run.json': '{}', 'run/secret': SECRET };
  await writeFiles(folder, files);
  await chmod(join(folder, 'open'), 0o644);
  for (const name of ['large', 'run/secret']) await chmod(join(folder, name), 0o600);
  const cases: [env: NodeJS.ProcessEnv, says: RegExp][] = [
    [{ GUARD_API_KEY_FILE: path, GUARD_API_KEY: SECRET }, /GUARD_API_KEY is set as well/],
    [{ GUARD_API_KEY_FILE: join(folder, 'none') }, /cannot be read \(ENOENT\)/],
    [{ GUARD_API_KEY_FILE: folder }, /not an ordinary file/],
    [{ GUARD_API_KEY_FILE: join(folder, 'open') }, /chmod 600/],
    [{ GUARD_API_KEY_FILE: join(folder, 'large') }, /more than 16384 bytes/],
    [{ GUARD_API_KEY_FILE: join(folder, 'run/secret') }, /in the run directory/],
  ];
  for (const [env, says] of cases) {
    const done = await typed(['status', '--out', folder], { context: { env } });
    expect(done.status, done.stderr).toBe(2);
    expect(done.stderr).toMatch(/^guardsweep: GUARD_API_KEY_FILE: /);
    expect(done.stderr).toMatch(says);
    expect(done.stdout + done.stderr).not.toContain(SECRET);
  }
});
