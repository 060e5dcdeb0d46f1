import { hash, generateKeyPairSync } from 'node:crypto';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { keyId } from '../../../src/record/manifest/manifest-signature.ts';
import { jsonl } from '../../helpers/documents.ts';
import { finishedRun, claim, problemOf, signal, finishPass, WITH_TABLES } from '../run-fixture.ts';
import { resultOf, shardOf } from '../shards.ts';
import { change, putManifest, readManifestJson, reseal } from '../reseal.ts';

const run = () => finishedRun([resultOf(shardOf(0, [0, 1]))]);

const FINALS = /^(verdicts|errors|flagged|summary|manifest|source-hashes)/;

describe('the closing line', () => {
  it('lets a head that was noted elsewhere tell a record from one that was made anew', async () => {
    const { dir, head } = await run();
    const other = `"sha256":"${'f'.repeat(64)}"`;
    await change(join(dir, 'source-hashes.jsonl'), (text) => text.replace(/"sha256":[^}]*/, other));
    const forged = await reseal(dir);
    // The directory alone cannot show it: everything in it fits.
    expect(await verifyRun(dir)).toMatchObject({ ok: true, head: forged });
    expect(await problemOf(dir, { head })).toBe(`the chain head is ${forged}, not the expected one`);
  });

  it('holds hashes that can be checked with a JSON parser and SHA-256', async () => {
    const { dir, head } = await run();
    const manifest = await readManifestJson(dir);
    const lines = (await readFile(join(dir, 'log', '0001-commits.jsonl'), 'utf8')).trimEnd().split('\n');
    const closing = JSON.parse(lines.at(-1)!) as { files: string };
    expect(hash('sha256', lines.at(-1)!)).toBe(head);
    const others = ['log/0001-commits.jsonl', 'summary.json'];
    const files = jsonl(...manifest.files.filter(({ path }) => !others.includes(path)));
    expect(closing.files).toBe(hash('sha256', files));
  });

  it('is missed in a record that ends in a commit', async () => {
    const { dir } = await run();
    const path = join(dir, 'log', '0001-commits.jsonl');
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    const bytes = `${lines.slice(0, -1).join('\n')}\n`;
    await writeFile(path, bytes);
    const entry = { path: 'log/0001-commits.jsonl', bytes: bytes.length, sha256: hash('sha256', bytes) };
    const text = (await readFile(join(dir, 'manifest.json'), 'utf8'))
      .replace(/"chain_head": ".*"/, `"chain_head": "${hash('sha256', lines.at(-2)!)}"`)
      .replace(/\{"path":"log\/0001-commits.jsonl",.*\}/, JSON.stringify(entry));
    await putManifest(dir, text);
    expect(await problemOf(dir)).toBe(
      'log/0001-commits.jsonl does not end in a closing line, so nothing in the chain says what manifest.json held',
    );
  });

  it.each([
    ['is followed by another one when the manifest was not written after it', 0],
    ['may be torn off: nothing is lost with it', 20],
  ])('%s', async (_, torn) => {
    const { dir, record, head } = await finishedRun([resultOf(shardOf(0, [0, 1]))], WITH_TABLES);
    for (const name of await readdir(dir)) if (FINALS.test(name)) await rm(join(dir, name));
    const path = join(dir, 'log', '0001-commits.jsonl');
    const bytes = await readFile(path);
    await writeFile(path, bytes.subarray(0, bytes.length - torn));
    const said: string[] = [];
    const log = await claim({ dir, record }, { report: (line) => said.push(line) });
    const { chain_head } = await finishRun(log, signal);
    await log.close();
    expect(said).toEqual([]);
    expect(chain_head).not.toBe(head);
    expect(await verifyRun(dir, { head: chain_head })).toMatchObject({ ok: true, head: chain_head });
  });

  it('that is damaged stops verify and a new writer', async () => {
    const { dir, record } = await run();
    const closing = (text: string) => text.replace('"closes":1', '"closes":2');
    await change(join(dir, 'log', '0001-commits.jsonl'), closing);
    const problem = 'log/0001-commits.jsonl line 4 does not follow from the line before it';
    expect(await problemOf(dir)).toBe(problem);
    await expect(claim({ dir, record })).rejects.toThrow(`${problem}; restore`);
  });

  it('of an earlier pass stays in the chain, and verify says so', async () => {
    const { dir, record, head } = await run();
    const log = await finishPass({ dir, record }, [resultOf(shardOf(1, [0], { pass: 2 }))]);
    expect(await verifyRun(dir, { head: log.head })).toMatchObject({ ok: true, pass: 2 });
    const { finished_at: at } = await readManifestJson(dir, 'manifest.1.json');
    expect(await problemOf(dir, { head })).toBe(
      `the chain head is ${log.head}: the expected head is that of pass 1, finished at ${at}, and the log continues after it`,
    );
  });
});

async function signedRun() {
  const pair = generateKeyPairSync('ed25519');
  const made = await finishedRun([resultOf(shardOf(0, [0, 1]))], { signingKey: pair.privateKey });
  return { ...made, ...pair };
}

describe('the signature of a manifest', () => {
  it('is valid with its key, unchecked without one, and demanded by a key', async () => {
    const { dir, publicKey } = await signedRun();
    expect(await verifyRun(dir, { publicKey })).toMatchObject({ ok: true, signature: 'valid' });
    expect(await verifyRun(dir)).toMatchObject({ ok: true, signature: 'unchecked' });
    const other = generateKeyPairSync('ed25519').publicKey;
    expect(await problemOf(dir, { publicKey: other })).toBe(
      `manifest.sig is by the key ${keyId(publicKey)}, not by ${keyId(other)}`,
    );
    await reseal(dir, (manifest) => ({ ...manifest, finished_at: '2020-01-01T00:00:00.000Z' }));
    expect(await problemOf(dir, { publicKey })).toContain('not a signature of manifest.sha256');
    await rm(join(dir, 'manifest.sig'));
    expect(await verifyRun(dir)).toMatchObject({ ok: true, signature: 'none' });
    expect(await problemOf(dir, { publicKey })).toBe('manifest.sig is missing: the record is not signed');
  });

  it('does not hold with any changed byte', async () => {
    const { dir, publicKey } = await signedRun();
    const path = join(dir, 'manifest.sig');
    const bytes = await readFile(path);
    // White space behind the JSON says nothing.
    for (const at of [...bytes.keys()].slice(0, -1)) {
      await writeFile(path, bytes.with(at, bytes[at]! ^ 1));
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
