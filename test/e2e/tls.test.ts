import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { issueCertificate, makeCertificate } from '../helpers/certificate.ts';
import { guardsweep, printedRun, temporaryFolder, writeFiles } from '../helpers/cli.ts';
import { guard } from '../helpers/guards/guard-pool.ts';

/** Trusts a certificate, wherever else the machine that runs the tests has its authorities. */
const trusting = (path: string): NodeJS.ProcessEnv => ({
  NODE_EXTRA_CA_CERTS: path,
  GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: undefined,
});

test('judges over TLS, with a token, at a guard whose certificate is trusted', async () => {
  const folder = await temporaryFolder();
  const tls = await makeCertificate(folder, '127.0.0.1');
  const server = await guard({ tls });
  await writeFiles(folder, { 'texts.csv': 'text\none\ntwo\n' });
  const env = { ...trusting(tls.path), GUARD_TOKEN: 'secret' };
  const done = await guardsweep(['enqueue', 'texts.csv', '--guard', server.address], { cwd: folder, env });
  expect(done).toMatchObject({ status: 0 });
  expect(server.seen.flatMap(({ inputs }) => inputs['TEXT'])).toEqual(['one', 'two']);
  expect(server.seen[0]!.authorization).toBe('Bearer secret');
});

test('presents a certificate, of which nothing gets into the run directory; resume names it again', async () => {
  const folder = await temporaryFolder();
  const authority = await makeCertificate(folder, '127.0.0.1');
  const server = await issueCertificate(folder, 'server', authority, '127.0.0.1');
  const client = await issueCertificate(folder, 'client', authority, '127.0.0.1');
  const { address } = await guard({ tls: { ...server, clientAuthority: authority.certificate } });
  await writeFiles(folder, { 'texts.csv': 'text\none\ntwo\n' });
  const files = ['--guard-ca', authority.path, '--guard-cert', client.path, '--guard-key', client.keyPath];
  const done = await guardsweep(['enqueue', 'texts.csv', '--guard', address, ...files], { cwd: folder });
  expect(done).toMatchObject({ status: 0 });
  const dir = printedRun(done);
  expect(await readFile(join(dir, 'run.json'), 'utf8')).not.toMatch(/\.pem|\.key/);
  expect((await guardsweep(['resume', dir, ...files])).status).toBe(0);
  for (const command of ['fingerprint', 'doctor']) {
    expect((await guardsweep([command, '--guard', address, ...files], { cwd: folder })).stdout).toContain(
      'sha256:',
    );
  }
});
