import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Item } from '../../../src/domain/item.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { putManifest } from '../reseal.ts';
import { newRun, finishPass } from '../run-fixture.ts';
import { failed, resultOf, shardOf, verdict } from '../shards.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A finished run of two passes over two sources, of which one is there to be hashed. */
async function retriedRun(): Promise<{ dir: string; head: string }> {
  const run = await newRun({ sources: ['a.csv', 'b.csv'] });
  await writeFile(join(run.dir, '..', 'a.csv'), '');
  const judge = (item: Item) => (item.seq === 0 ? failed('TIMEOUT') : verdict(item));
  const shards = [shardOf(0, [0, 1], { path: 'a.csv' }), shardOf(1, [2], { path: 'b.csv' })];
  await finishPass(
    run,
    shards.map((shard) => resultOf(shard, judge)),
  );
  const { head } = await finishPass(run, [resultOf(shardOf(2, [0], { pass: 2, path: 'a.csv' }))]);
  return { dir: run.dir, head };
}

/** Another value of the same kind, which a reader of the file would take. */
function otherThan(value: Json): Json {
  if (value === null) return '0'.repeat(64);
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') return !value;
  const last = value.at(-1)!;
  const digit = /[0-9a-f]$/.test(value) ? (last === '0' ? '1' : '0') : `${last}x`;
  return value.slice(0, -1) + digit;
}

/** Every way to change one leaf, to leave out one part of a list, or to swap two. */
function* changes(value: Json, path = ''): Generator<{ path: string; changed: Json }, void> {
  if (Array.isArray(value)) {
    for (const [index, part] of value.entries()) {
      const others = value.toSpliced(index, 1);
      yield { path: `${path}[${index}] left out`, changed: others };
      if (index > 0) yield { path: `${path}[${index}] first`, changed: [part, ...others] };
      for (const { path: at, changed } of changes(part, `${path}[${index}]`)) {
        yield { path: at, changed: value.with(index, changed) };
      }
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      for (const { path: at, changed } of changes(part, `${path}.${key}`)) {
        yield { path: at, changed: { ...value, [key]: changed } };
      }
    }
    if (path !== '') yield { path: `${path} null`, changed: null };
  } else {
    yield { path, changed: otherThan(value) };
  }
}

/** Tries every change of a JSON file of a run; gives those that verify does not notice. `put`: has the file changed so. */
async function unnoticed(
  { dir, head }: { readonly dir: string; readonly head: string },
  file: string,
  put: (text: string) => Promise<void>,
): Promise<string[]> {
  const paths: string[] = [];
  const named = file === 'summary.json' ? /summary\.json/ : /\.(json|csv|xlsx|parquet)/;
  let tried = 0;
  for (const { path, changed } of changes(JSON.parse(await readFile(join(dir, file), 'utf8')) as Json)) {
    tried++;
    await put(`${JSON.stringify(changed, null, 2)}\n`);
    const report = await verifyRun(dir, { head });
    if (report.ok) paths.push(path);
    else expect(report.problem).toMatch(named);
  }
  expect(tried).toBeGreaterThan(50);
  return paths;
}

describe('a changed record with new hashes', () => {
  it('is found at every leaf of manifest.json', async () => {
    const run = await retriedRun();
    const { dir, head } = run;
    const original = await readFile(join(dir, 'manifest.json'), 'utf8');
    expect(await unnoticed(run, 'manifest.json', (text) => putManifest(dir, text))).toEqual([]);
    await putManifest(dir, `${JSON.stringify(JSON.parse(original))}\n`);
    expect(await verifyRun(dir, { head })).toMatchObject({ ok: false });
    await putManifest(dir, original);
    expect(await verifyRun(dir, { head })).toMatchObject({ ok: true, head });
  });

  it('is found at every leaf of summary.json', async () => {
    const run = await retriedRun();
    const manifest = await readFile(join(run.dir, 'manifest.json'), 'utf8');
    const put = async (text: string): Promise<void> => {
      await writeFile(join(run.dir, 'summary.json'), text);
      const entry = { path: 'summary.json', bytes: text.length, sha256: hash('sha256', text) };
      await putManifest(run.dir, manifest.replace(/\{"path":"summary.json",.*\}/, JSON.stringify(entry)));
    };
    expect(await unnoticed(run, 'summary.json', put)).toEqual([]);
  });
});
