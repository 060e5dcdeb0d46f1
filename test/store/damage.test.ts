import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { content, FOUND, JUDGED, keptStore, verdictsOf } from './kept-store.ts';

const COUNT = 1000;
const contents = Array.from({ length: COUNT }, (_, index) => content(index));
/** More than a file of 1 MiB holds. */
const MANY = Array.from({ length: 10_000 }, (_, index) => content(index));
const recorded = verdictsOf('run-1', contents);

const dataFile = async (dir: string): Promise<string> => {
  const { data } = JSON.parse(await readFile(join(dir, 'store.json'), 'utf8')) as { data: string };
  return join(dir, data, 'data.mdb');
};

async function filledStore() {
  const kept = await keptStore([recorded]);
  const first = await kept.open();
  await first.add(recorded);
  await first.close();
  return kept;
}

/** Something that happens to a file: it is cut, or a part of it is overwritten. */
const at = fc.double({ min: 0, max: 1, noNaN: true });
const bytes = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 8 }),
  fc.integer({ min: 1, max: 20_000 }).map((length) => new Uint8Array(length)),
  fc.uint8Array({ minLength: 4096, maxLength: 8192 }),
);
const accidents = fc.record({ at, overwrittenBy: fc.option(bytes) });

it('is built again, or misses, whatever happened to its file', async () => {
  const { open, dir } = await filledStore();
  await fc.assert(
    fc.asyncProperty(fc.array(accidents, { minLength: 1, maxLength: 2 }), async (happened) => {
      const path = await dataFile(dir);
      for (const accident of happened) {
        const bytes = await readFile(path);
        const at = Math.floor(accident.at * bytes.length);
        if (accident.overwrittenBy === null) await truncate(path, at);
        else {
          Buffer.from(accident.overwrittenBy).copy(bytes, at);
          await writeFile(path, bytes);
        }
      }
      const store = await open();
      for (const each of contents.slice(0, 200)) {
        const found = store.find(each, [JUDGED]);
        if (found !== null) expect(found.judgement).toEqual(FOUND);
      }
      await store.add(recorded);
      expect(store.find(contents[0]!, [JUDGED])?.judgement).toEqual(FOUND);
      await store.close();
    }),
    { numRuns: 8 },
  );
});

it('is built again when another file of it is missing, or is a pipe, a link or too large', async () => {
  const { open, dir, said } = await filledStore();
  const replacements = [
    async () => undefined,
    async (path: string) => void (await promisify(execFile)('mkfifo', [path])),
    async (path: string) => symlink('/nonexistent', path),
    async (path: string) => void (path.endsWith('store.json') || (await mkdir(path))),
    async (path: string) => {
      await writeFile(path, '');
      await truncate(path, 2 ** 30);
    },
  ];
  for (const replaceWith of replacements) {
    for (const name of ['store.json', 'data.mdb', 'data.mdb-lock', 'closed.json']) {
      const path = join(name === 'store.json' ? dir : dirname(await dataFile(dir)), name);
      await rm(path);
      await replaceWith(path);
      const isGone = name === 'store.json' && !(await lstat(path).catch(() => null));
      const store = await open();
      // Without its marker it is a new store, as if it had been deleted.
      const found = store.find(contents[0]!, [JUDGED])?.judgement;
      expect([name, found]).toEqual([name, isGone ? undefined : FOUND]);
      await store.add(recorded);
      await store.close();
    }
  }
  expect(new Set(said).size).toBe(2);
});

/**
 * Adds verdicts one after another, and prints the number of each when that is over; then what the store said. Processes
 * run compiled code.
 */
const WRITER = `
  const [, dir, store, given] = process.argv;
  const { VerdictStore } = await import(store);
  const { readFile } = await import('node:fs/promises');
  const { key, recorded } = JSON.parse(await readFile(given));
  const options = {
    key: Buffer.from(key, 'hex'),
    recorded: async function* () {},
    say: (line) => console.log(line),
    signal: new AbortController().signal,
  };
  console.error = () => undefined;
  const opened = await VerdictStore.open(dir, options);
  const add = async (verdict, index) => {
    await opened.add({ ...recorded, verdicts: [verdict] });
    console.log(index);
  };
  await Promise.all(recorded.verdicts.map(add));
  await opened.close();
  console.log('closed');
`;

const BUILT = new URL('../../dist/src/store/verdict-store.js', import.meta.url).href;
const node = [process.execPath, '--input-type=module', '-e', WRITER] as const;

const UNCLOSED = WRITER.replace('opened.close()', 'new Promise(() => setTimeout(() => 0, 60_000))');

it('begins again with what finished runs have when the process is killed, wherever it is', async () => {
  const { open, dir, key, said } = await keptStore([verdictsOf('run-0', contents.slice(0, 10))]);
  const given = `${dir}.json`;
  await writeFile(given, JSON.stringify({ key: key!.toString('hex'), recorded }));
  for (const stored of [1, 300, 999]) {
    const args = ['--input-type=module', '-e', UNCLOSED, dir, BUILT, given];
    const writer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface(writer.stdout)) {
      if (Number(line) < stored) continue;
      writer.kill('SIGKILL');
      break;
    }
    await once(writer, 'exit');
    const store = await open();
    const found = contents.map((each) => store.find(each, [JUDGED])?.run);
    expect(found).toEqual(contents.map((_, index) => (index < 10 ? 'run-0' : undefined)));
    await store.close();
  }
  expect(new Set(said)).toEqual(new Set([expect.stringContaining('was not closed properly')]));
});

it('goes on without storing more when the file cannot grow, and says so once', async () => {
  const { dir, key } = await keptStore();
  const given = `${dir}.json`;
  await writeFile(given, JSON.stringify({ key: key!.toString('hex'), recorded: verdictsOf('run-1', MANY) }));
  // In blocks of 512 bytes: the store tries whether there is room for 1 MiB.
  const limited = ['-c', 'ulimit -f 2100; exec "$@"', 'sh', ...node, dir, BUILT, given];
  const { stdout } = await promisify(execFile)('sh', limited, { maxBuffer: 2 ** 24 });
  const said = stdout.split('\n').filter((line) => !/^\d*$/.test(line));
  expect(said).toEqual([expect.stringMatching(/^the verdict store cannot be written \(E[A-Z]+\)/), 'closed']);
});

it('is made once by processes that begin at the same time, and keeps what each of them adds', async () => {
  const { open, dir, key, said } = await keptStore();
  const parts = [0, 1, 2].map((part) => contents.slice(part * 10, part * 10 + 10));
  await Promise.all(
    parts.map(async (part, at) => {
      const given = `${dir}-${at}.json`;
      const recordedPart = verdictsOf('run-1', part);
      await writeFile(given, JSON.stringify({ key: key!.toString('hex'), recorded: recordedPart }));
      const [program, ...args] = node;
      const { stdout } = await promisify(execFile)(program, [...args, dir, BUILT, given]);
      // Nothing is said, so it prints the number of each verdict and that it is closed.
      expect(stdout.trim().split('\n')).toHaveLength(part.length + 1);
    }),
  );
  const store = await open();
  for (const each of parts.flat()) expect(store.find(each, [JUDGED])?.judgement).toEqual(FOUND);
  await store.close();
  expect(said).toEqual([]);
});
