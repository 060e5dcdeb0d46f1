import { execFile } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { keyId } from '../../../src/record/manifest/manifest-signature.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { reseal } from '../reseal.ts';
import { claim, finishedRun, resultOf, shardOf, signal, work } from '../run-fixture.ts';

const run = promisify(execFile);

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const keys = (): Keys => generateKeyPairSync('ed25519');

async function signedRun() {
  const pair = keys();
  const made = await finishedRun([resultOf(shardOf(0, [0, 1]))], { signingKey: pair.privateKey });
  return { ...made, ...pair };
}

describe('the signature of a manifest', () => {
  it('is valid with its key, unchecked without one, and demanded by a key', async () => {
    const { dir, publicKey } = await signedRun();
    expect(await verifyRun(dir, { publicKey })).toMatchObject({ ok: true, signature: 'valid' });
    expect(await verifyRun(dir)).toMatchObject({ ok: true, signature: 'unchecked' });
    const other = keys().publicKey;
    expect(await verifyRun(dir, { publicKey: other })).toEqual({
      ok: false,
      problem: `manifest.sig is by the key ${keyId(publicKey)}, not by ${keyId(other)}`,
    });
    await rm(join(dir, 'manifest.sig'));
    expect(await verifyRun(dir)).toMatchObject({ ok: true, signature: 'none' });
    expect(await verifyRun(dir, { publicKey })).toEqual({
      ok: false,
      problem: 'manifest.sig is missing: the record is not signed',
    });
  });

  it('tells a record from one that was made anew without the key', async () => {
    const { dir, publicKey } = await signedRun();
    const head = await reseal(dir, (manifest) => ({ ...manifest, finished_at: '2020-01-01T00:00:00.000Z' }));
    expect(await verifyRun(dir, { head })).toMatchObject({ ok: true });
    expect(await verifyRun(dir, { publicKey })).toEqual({
      ok: false,
      problem: `manifest.sig is not a signature of manifest.sha256 by ${keyId(publicKey)}`,
    });
  });

  it('does not hold with any changed byte', async () => {
    const { dir, publicKey } = await signedRun();
    const path = join(dir, 'manifest.sig');
    const bytes = await readFile(path);
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      // White space behind the JSON says nothing.
      if (at === bytes.length - 1) continue;
      await writeFile(path, changed);
      expect(await verifyRun(dir, { publicKey })).toMatchObject({ ok: false });
    }
  });

  it('can be checked with openssl, by a key that openssl made', async () => {
    const folder = await temporaryFolder();
    const key = join(folder, 'key.pem');
    await run('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', key]);
    await run('openssl', ['pkey', '-in', key, '-pubout', '-out', join(folder, 'public.pem')]);
    const signingKey = createPrivateKey(await readFile(key));
    const { dir } = await finishedRun([resultOf(shardOf(0, [0]))], { signingKey });
    const { signature } = JSON.parse(await readFile(join(dir, 'manifest.sig'), 'utf8')) as {
      signature: string;
    };
    await writeFile(join(folder, 'signature'), Buffer.from(signature, 'base64'));
    const check = () =>
      run('openssl', [
        ...['pkeyutl', '-verify', '-rawin', '-pubin', '-inkey', join(folder, 'public.pem')],
        ...['-in', join(dir, 'manifest.sha256'), '-sigfile', join(folder, 'signature')],
      ]);
    expect((await check()).stdout).toContain('Signature Verified Successfully');
    await run('sha256sum', ['--check', 'manifest.sha256'], { cwd: dir });
    await reseal(dir, (manifest) => ({ ...manifest, finished_at: '2020-01-01T00:00:00.000Z' }));
    await expect(check()).rejects.toThrow();
  });

  it('is made for each pass, and not left beside the manifest of a pass without a key', async () => {
    const { dir, record, privateKey, publicKey } = await signedRun();
    for (const signingKey of [privateKey, null]) {
      const log = await claim({ dir, record });
      const pass = signingKey === null ? 3 : 2;
      await work(dir, log, [resultOf(shardOf(pass - 1, [0], { pass }))]);
      await finishRun(log, signal, { signingKey });
      await log.close();
      expect((await verifyRun(dir, { publicKey })).ok).toBe(signingKey !== null);
      expect((await readdir(dir)).includes('manifest.sig')).toBe(signingKey !== null);
    }
    expect(await verifyRun(dir)).toMatchObject({ ok: true, pass: 3, signature: 'none' });
  });
});
