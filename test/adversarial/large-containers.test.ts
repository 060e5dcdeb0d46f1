import { createWriteStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Zip, ZipPassThrough } from 'fflate';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/run-config.ts';
import { expandSources } from '../../src/ingest/discover/expand.ts';
import { readSource } from '../../src/ingest/items/read-source.ts';
import { SourceSnapshots } from '../../src/ingest/sources/source-snapshots.ts';
import { rowsOf } from '../formats/parquet/read-rows.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { parquetFile } from '../helpers/duckdb.ts';
import { pngFile } from '../helpers/png.ts';
import { corpus, NEVER } from '../ingest/read-items.ts';

const MEBIBYTE = 1024 * 1024;
/** Size of each file. An archive of 2 GiB and the first 4 GiB of a mailbox took the same memory. */
const BYTES = Number(process.env.LARGE_MEBIBYTES ?? 400) * MEBIBYTE;
/** Above what a process has before it reads: a part, in base64 and as text, and what waits to be collected. */
const MAX_GROWTH = 300 * MEBIBYTE;

const PICTURE = pngFile({ width: 1, height: 1, depth: 8, colourType: 2 }, Buffer.alloc(700_000, 'noise'));
const WORDS = 'some words of a long letter\r\n'.repeat(2000);

function* mailbox(): Generator<Buffer, void> {
  const mail = Buffer.from(`From ann@example.org Sat Jan  3 01:05:34 1998\r\nSubject: a\r\nMIME-Version: 1.0\r
Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n${WORDS}\r\n--b\r\nContent-Type: image/png\r
Content-Transfer-Encoding: base64\r\n\r\n${PICTURE.toString('base64').replaceAll(/.{76}/g, '$&\r\n')}\r\n--b--\r\n\r\n`);
  for (let bytes = 0; bytes < BYTES; bytes += mail.length) yield mail;
}

function* archive(): Generator<Buffer, void> {
  const made: Buffer[] = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    made.push(Buffer.from(piece));
  });
  for (let bytes = 0, number = 0; bytes < BYTES; bytes += PICTURE.length, number++) {
    const entry = new ZipPassThrough(`${number}.png`);
    zip.add(entry);
    entry.push(PICTURE, true);
    yield* made.splice(0);
  }
  zip.end();
  yield* made;
}

/** The most memory that a process has had, in bytes; 0 if it is gone. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** The most that a child of this process has had. */
function peakOfChildren(): number {
  const children = readdirSync(`/proc/${process.pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${process.pid}/task/${thread}/children`, 'latin1').split(' '),
  );
  return Math.max(0, ...children.filter((pid) => pid !== '').map((pid) => peakOf(Number(pid))));
}

test.each([
  ['a.mbox', mailbox],
  ['a.zip', archive],
] as const)(
  `%s of ${BYTES / MEBIBYTE} MiB is read in flat memory`,
  async (name, content) => {
    const path = join(await temporaryFolder(), name);
    await pipeline(Readable.from(content()), createWriteStream(path));
    const configs = [corpus(path)];
    const { sources } = await expandSources(configs, NEVER);
    const unpack = { ...DEFAULT_LIMITS.unpack, parts: 1e6, bytes: 2 * BYTES };
    const snapshots = new SourceSnapshots(sources, configs);
    const options = { ...DEFAULT_LIMITS, snapshots, unpack, signal: NEVER };
    const before = peakOf(process.pid);
    let [items, child, read] = [0, 0, 0];
    for await (const batch of readSource(sources[0]!, configs[0]!, 0, options)) {
      items += batch.length;
      for (const { request } of batch)
        if (request !== null && 'embedded' in request) read += request.embedded.length;
      if (items % 50 === 0) child = Math.max(child, peakOfChildren());
    }
    const growth = peakOf(process.pid) - before;
    const [own, others] = [growth, child].map((bytes) => Math.round(bytes / MEBIBYTE));
    console.info(`${name}: ${items} items; peak of the child ${others} MiB, growth of the parent ${own} MiB`);
    expect(read).toBeGreaterThan(BYTES * 0.6);
    expect(child).toBeGreaterThan(0);
    expect(child).toBeLessThan(MAX_GROWTH);
    expect(growth).toBeLessThan(MAX_GROWTH);
  },
  60_000 + BYTES / 1_000,
);

test('what a few bytes of Parquet expand to is bounded, even in rows too large to be judged', async () => {
  const path = join(await temporaryFolder(), 'bomb.parquet');
  await parquetFile(path, "select repeat('long ', 180000) as text from range(1300) r(i)", "codec 'zstd'");
  expect(statSync(path).size).toBeLessThan(200_000);
  const { records, problem } = await rowsOf(path, { recordBytes: 1000 });
  expect(problem?.error.code).toBe('ITEM_TOO_LARGE');
  expect(records.length).toBeGreaterThan(1000);
  expect(records.length).toBeLessThan(1300);
});
