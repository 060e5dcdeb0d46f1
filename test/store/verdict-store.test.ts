import { chmod, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { open as openRoot } from 'lmdb';
import { expect, it } from 'vitest';
import { COVERAGE_UNITS } from '../../src/domain/coverage.ts';
import { CATEGORY_KEYS } from '../../src/domain/taxonomy.ts';
import { roundScore } from '../../src/guard/protocol/answer.ts';
import { StoreUser } from '../../src/store/store-users.ts';
import { VerdictStore } from '../../src/store/verdict-store.ts';
import { writeFiles } from '../helpers/cli.ts';
import { MODEL } from '../helpers/moderation.ts';
import { content, FOUND, JUDGED, judgement, keptStore, verdictsOf } from './kept-store.ts';

it('finds a verdict again, in this process and in the next', async () => {
  const { open, said, dir } = await keptStore();
  let store = await open();
  expect(store.find(content('a'), [JUDGED])).toBeNull();
  await store.add(verdictsOf('run-1', [content('a')]));
  const expected = { judgement: FOUND, fingerprint: MODEL, run: 'run-1' };
  expect(store.find(content('a'), [JUDGED])).toEqual(expected);
  await store.close();
  store = await open();
  expect(store.find(content('a'), [JUDGED])).toEqual(expected);
  expect(store.find(content('b'), [JUDGED])).toBeNull();
  await store.close();
  expect(said).toEqual([]);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
});

it('finds a verdict as it was, whatever its scores and flags', async () => {
  const { open } = await keptStore();
  const store = await open();
  const category = fc.constantFrom(...CATEGORY_KEYS, 'openai/violence', 'shieldgemma/hate');
  const score = fc.float({ min: 0, max: 1, noNaN: true }).map(roundScore);
  const number = fc.oneof(score, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat());
  const date = fc.date({ min: new Date(0), max: new Date('9999'), noInvalidDate: true });
  const unit = fc.constantFrom(...COVERAGE_UNITS);
  const verdicts = fc.record({
    score: number,
    flagged: fc.boolean(),
    subcategoryScores: fc.option(fc.dictionary(category, number)),
    subcategoryFlags: fc.option(fc.uniqueArray(fc.oneof(category, fc.string()))),
    latencyMs: fc.nat(10 ** 9).map((hundredths) => hundredths / 100),
    moderatedAt: date.map((each) => each.toISOString()),
    coverage: fc.record({ unit, judged: number, total: number, worst_at: fc.option(number) }),
  });
  await fc.assert(
    fc.asyncProperty(verdicts, async (verdict) => {
      const given = [{ contentSha256: content('a'), judgement: { ...judgement(), ...verdict } }];
      await store.add({ ...verdictsOf('run-1', []), verdicts: given });
      const found = JSON.stringify(store.find(content('a'), [JUDGED])!.judgement);
      expect(JSON.parse(found)).toEqual(JSON.parse(JSON.stringify({ ...FOUND, ...verdict })));
    }),
  );
  await store.close();
});

it('finds only what the same model judged with the same options, by the first that did', async () => {
  const { open } = await keptStore();
  const store = await open();
  await store.add(verdictsOf('run-1', [content('a')]));
  const other = { ...JUDGED, judging: '{"frames":9}' };
  const newer = { ...JUDGED, fingerprint: `sha256:${'0'.repeat(64)}` };
  expect(store.find(content('a'), [other, newer])).toBeNull();
  expect(store.find(content('a'), [newer, JUDGED])?.run).toBe('run-1');
  await store.close();
});

it('stores no verdict of an unknown model, and none of a generation', async () => {
  const { open } = await keptStore();
  const store = await open();
  const others = [{ fingerprint: null }, { stream: {} as never }];
  const verdicts = others.map((other, at) => {
    return { contentSha256: content(at), judgement: { ...judgement(), ...other } };
  });
  await store.add({ ...verdictsOf('run-1', []), verdicts });
  for (const at of others.keys()) expect(store.find(content(at), [JUDGED])).toBeNull();
  await store.close();
});

it.each([
  ['holds something else', 0o700, { 'notes.txt': 'not a store' }],
  ['others can write in', 0o777, {}],
])('refuses a folder that %s', async (_, mode, files) => {
  const { open, dir } = await keptStore();
  await writeFiles(dir, files);
  await mkdir(dir, { recursive: true });
  await chmod(dir, mode);
  await expect(open()).rejects.toMatchObject({ kind: 'usage' });
});

it('knows a media file while its size, its times and its place stay the same', async () => {
  const { open } = await keptStore();
  let store = await open();
  const second = 1_000_000_000n;
  const state = { dev: 1n, ino: 2n, size: 3n, mtimeNs: second, ctimeNs: 2n * second, seenMs: 10_000 };
  const media = { sha256: content('a'), modality: 'audio' } as const;
  await store.files.add(state, media);
  const young = { ...state, ino: 3n, seenMs: 3_500 };
  await store.files.add(young, media);
  await store.close();
  store = await open();
  expect(store.files.find(state)).toEqual(media);
  for (const change of [{ dev: 9n }, { ino: 9n }, { size: 9n }, { mtimeNs: 9n }, { ctimeNs: 9n }])
    expect(store.files.find({ ...state, ...change })).toBeNull();
  expect(store.files.find(young)).toBeNull();
  await store.close();
});

it('is not opened on another host', async () => {
  const { open, dir, said, ...options } = await keptStore();
  await (await open()).close();
  const path = join(dir, 'store.json');
  const marker = await readFile(path, 'utf8');
  await writeFile(path, marker.replace(JSON.stringify(hostname()), '"another"'));
  expect(await VerdictStore.open(dir, options)).toBeNull();
  expect(said).toEqual([expect.stringContaining('belongs to another host')]);
});

it('trusts no store that another user made, and a copy of its own only as far as nobody changed it', async () => {
  const { open, dir, said, ...options } = await keptStore();
  const theirs = { ...options, key: Buffer.alloc(32, 8) };
  const judged = verdictsOf('run-1', [content('a'), content('b')]);
  let store = await open();
  await store.add(judged);
  await store.close();
  const copy = `${dir}-copy`;
  await cp(dir, copy, { recursive: true });
  store = (await VerdictStore.open(dir, theirs))!;
  expect(store.find(content('a'), [JUDGED])).toBeNull();
  await store.close();
  expect(said).toEqual([expect.stringContaining('a copy of one made elsewhere')]);
  // Who had the copy in hand has exchanged the verdicts, and forged one.
  const { data } = JSON.parse(await readFile(join(copy, 'store.json'), 'utf8')) as { data: string };
  const path = join(copy, data, 'data.mdb');
  const root = openRoot<Buffer, Buffer>({ path, noSubdir: true, encoding: 'binary', keyEncoding: 'binary' });
  const table = root.openDB<Buffer, Buffer>('verdicts', { encoding: 'binary', keyEncoding: 'binary' });
  const [[a], [b, value]] = [...table.getRange()].map((entry) => {
    return [Buffer.from(entry.key), Buffer.from(entry.value)];
  }) as [[Buffer], [Buffer, Buffer]];
  await table.put(a, value);
  await table.put(b, value.fill(0xc2, 24, 25));
  await root.close();
  const forger = await StoreUser.begin(join(copy, data));
  await forger!.noteClosed();
  await forger!.end();
  store = (await VerdictStore.open(copy, { ...options }))!;
  expect(store.find(content('a'), [JUDGED])).toBeNull();
  expect(store.find(content('b'), [JUDGED])).toBeNull();
  await store.add(judged);
  expect(store.find(content('a'), [JUDGED])?.judgement).toEqual(FOUND);
  await store.close();
  expect(said).toHaveLength(1);
});
