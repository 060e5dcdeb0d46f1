import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keyId } from '../../../src/record/manifest/manifest-signature.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { reseal } from '../reseal.ts';
import { finishedRun, finishPass, resultOf, shardOf } from '../run-fixture.ts';

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

  it('is made for each pass, and not left beside the manifest of a pass without a key', async () => {
    const { dir, record, privateKey, publicKey } = await signedRun();
    for (const signingKey of [privateKey, null]) {
      const pass = signingKey === null ? 3 : 2;
      await finishPass({ dir, record }, [resultOf(shardOf(pass - 1, [0], { pass }))], { signingKey });
      expect((await verifyRun(dir, { publicKey })).ok).toBe(signingKey !== null);
      expect((await readdir(dir)).includes('manifest.sig')).toBe(signingKey !== null);
    }
    expect(await verifyRun(dir)).toMatchObject({ ok: true, pass: 3, signature: 'none' });
  });
});
