import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeChainLine } from '../../../src/record/log/chain-line.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { random, rounds, seed } from '../../helpers/corpus.ts';
import { settledItem } from '../../helpers/items.ts';
import { filesOf } from '../../helpers/run-directory.ts';
import { finishedRun, WITH_TABLES, problemOf } from '../run-fixture.ts';
import { resultOf, shardOf } from '../shards.ts';
import { change, reseal } from '../reseal.ts';

const SEED = seed();

async function smallRun(options?: Parameters<typeof finishedRun>[1]) {
  const bad = { ...shardOf(1, []), items: [settledItem(1, 'MALFORMED_ROW')] };
  return finishedRun([resultOf(shardOf(0, [0])), resultOf(bad)], options);
}

describe('verify', () => {
  // With all rounds, the manifest is tried at every byte. The files that it covers are tried at some.
  it('finds any changed byte of any file', async () => {
    const { dir } = await smallRun(WITH_TABLES);
    const next = random(SEED);
    for (const name of await filesOf(dir)) {
      const path = join(dir, name);
      const bytes = await readFile(path);
      const tries = rounds(name.startsWith('manifest') ? bytes.length : 60);
      const step = bytes.length / tries;
      const places = Array.from({ length: tries }, (_, at) => Math.floor((at + next()) * step));
      for (const at of [0, bytes.length - 1, ...places]) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1 << Math.floor(next() * 8);
        await writeFile(path, changed);
        const report = await verifyRun(dir);
        if (report.ok) throw new Error(`byte ${at} of ${name} was changed and nobody noticed`);
        expect(report.problem).toMatch(/\.(jsonl|json|csv|parquet|xlsx|sha256)\b/);
      }
      await writeFile(path, bytes);
    }
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
  });

  it('finds a missing, a cut, a longer and an added file', async () => {
    const { dir } = await smallRun();
    for (const name of await filesOf(dir)) {
      const path = join(dir, name);
      const bytes = await readFile(path);
      await rm(path);
      expect(await verifyRun(dir), name).toMatchObject({ ok: false });
      for (const other of [bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from('\n')])]) {
        await writeFile(path, other);
        expect(await verifyRun(dir), name).toMatchObject({ ok: false });
      }
      await writeFile(path, bytes);
    }
    for (const name of ['flagged-2.csv', 'log/0001-000002.jsonl', 'log/notes.txt']) {
      await writeFile(join(dir, name), '');
      expect(await problemOf(dir)).toContain(name);
      await rm(join(dir, name));
    }
  });

  it('finds an added file under a hidden name, but passes over what systems and crashes leave', async () => {
    const { dir } = await smallRun(WITH_TABLES);
    for (const name of ['.notes', '._notes', '.verdicts.csv', '.0001-notes.tmp', '.tmp', 'log/.notes']) {
      await writeFile(join(dir, name), '');
      expect([name, await verifyRun(dir)]).toMatchObject([name, { ok: false }]);
      await rm(join(dir, name));
    }
    const left = ['.DS_Store', '._.DS_Store', '._verdicts.csv', 'Thumbs.db', 'desktop.ini', '.directory'];
    for (const name of [...left, '.nfs00000000018f4a9b00000001', '.0001-verdicts.jsonl.tmp', 'log/.DS_Store'])
      await writeFile(join(dir, name), '');
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
  });

  it.each([
    ['verdicts.jsonl', 'MALFORMED', 'malformed', 'verdicts.jsonl line 2 does not match the verdict log'],
    ['verdicts.csv', '0.93', '0.03', 'verdicts.csv does not have the hash that manifest.json names'],
    ['log/0001-commits.jsonl', '"items":1', '"items":9', 'line 3 does not follow from the line before it'],
    ['run.json', 'test', 'tset', 'line 1 does not continue run.json as it is now'],
    ['plan.jsonl', '"items":1', '"items":2', 'plan.jsonl line 2 is damaged'],
  ])('names file and position: %s', async (name, from, to, problem) => {
    const { dir } = await smallRun(name.endsWith('.csv') ? WITH_TABLES : undefined);
    await change(join(dir, name), (text) => text.replace(from, to));
    expect(await problemOf(dir)).toContain(problem);
  });

  it('refuses a folder that is none of a run, and ends when aborted', async () => {
    const { dir } = await smallRun();
    await expect(verifyRun(join(dir, 'log'))).rejects.toMatchObject({ kind: 'usage' });
    const stop = AbortSignal.abort(new Error('stop'));
    await expect(verifyRun(dir, { signal: stop })).rejects.toThrow('stop');
  });

  it('leaves a hostile log at the first shard that no plan has', async () => {
    const { dir } = await smallRun();
    const path = join(dir, 'log', '0001-commits.jsonl');
    const text = await readFile(path, 'utf8');
    const lines = text.trimEnd().split('\n');
    const at = lines.findIndex((line) => line.startsWith('{"shard":'));
    const commit = JSON.parse(lines[at]!) as Record<string, unknown>;
    delete commit['check'];
    const forged = encodeChainLine({ ...commit, shard: 2 ** 52 } as never);
    // As long as the true one, so that it is not the size of the file that tells.
    const rest = lines.slice(at + 1).join('\n');
    const bytes = `${[...lines.slice(0, at), forged].join('\n')}\n${rest}`.slice(0, text.length - 1);
    await writeFile(path, `${bytes}\n`);
    const where = `log/0001-commits.jsonl line ${at + 1}`;
    expect(await problemOf(dir)).toBe(`${where} commits shard ${2 ** 52}, which is not planned`);
  });
});

it.each<[how: string, by: (text: string) => string, problem: string]>([
  ['changed', (text) => text.replace('"source":1', '"source":3'), 'line 2'],
  ['cut', (text) => text.replace(/(?<=\n)[^]*/, ''), 'of 1 sources, not of 3'],
  ['longer', (text) => `${text}{"source":3,"sha256":null}\n`, 'of 4 sources, not of 3'],
])('the hashes of the sources, %s, do not verify with a manifest made anew', async (_, by, problem) => {
  const sources = ['corpus.csv', 'folder/file-1.csv', 'folder/file-2.csv'];
  const { dir } = await finishedRun([resultOf(shardOf(0, [0, 1]))], { sources });
  await change(join(dir, 'source-hashes.jsonl'), by);
  await reseal(dir);
  const said = await problemOf(dir);
  expect(said).toContain(problem);
  expect(said).toContain('source-hashes.jsonl');
});
