import { hash } from 'node:crypto';
import { mkdtemp, rm, statfs, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Item } from '../../../src/domain/item.ts';
import type { FileState } from '../../../src/files/file-state.ts';
import type { ReadBefore } from '../../../src/ingest/items/whole-file-item.ts';
import { writeFiles } from '../../helpers/cli.ts';
import { itemsOf, JPEG, listed } from '../read-items.ts';

const KNOWN = '1'.repeat(64);

/** Knows the files whose states `knows` accepts, by a hash that no file has; notes what is added. */
function before(knows: (state: FileState) => boolean): ReadBefore & { readonly added: unknown[] } {
  const added: unknown[] = [];
  return {
    added,
    find: (state) => (knows(state) ? { sha256: KNOWN, modality: 'image' } : null),
    add: async (...media) => void added.push(media),
  };
}

async function folder(below = tmpdir()): Promise<string> {
  const root = await mkdtemp(join(below, 'guardsweep-unchanged-'));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFiles(root, { 'c/a.jpg': JPEG });
  return join(root, 'c');
}

async function read(path: string, readBefore: ReadBefore, onBytes = (): void => {}): Promise<Item[]> {
  const { sources, configs } = await listed(path);
  return itemsOf(sources, configs, { itemBytes: 1024, mediaBytes: 1024, readBefore, onBytes });
}

it('a file that has not changed is not read', async () => {
  const path = await folder();
  await writeFile(join(path, 'a.txt'), 'its caption');
  let pieces = 0;
  const media = before(({ size }) => size === BigInt(JPEG.length));
  const [item, ...others] = await read(path, media, () => pieces++);
  expect(others).toEqual([]);
  expect(item!.request).toMatchObject({ caption: 'its caption', file: { sha256: KNOWN } });
  expect(item!.source).toMatchObject({ sha256: KNOWN, bytes: JPEG.length });
  expect([pieces, media.added]).toEqual([0, []]);
});

it('any other media file is read and remembered, a text is not', async () => {
  const path = await folder();
  await writeFile(join(path, 'b.txt'), 'a text');
  await utimes(join(path, 'a.jpg'), 1000, 1000);
  const media = before(() => false);
  const [item] = await read(path, media);
  const { sha256 } = item!.source;
  const state = expect.objectContaining({ size: BigInt(JPEG.length), mtimeNs: 1000n * 10n ** 9n }) as object;
  expect(media.added).toEqual([[state, { sha256, modality: 'image' }]]);
});

it('a file that is kept in memory is read every time: what is written through a mapping shows in none of its times', async () => {
  const memory = '/dev/shm';
  expect((await statfs(memory)).type).toBe(0x0102_1994);
  const path = await folder(memory);
  const media = before(() => true);
  const [item] = await read(path, media);
  expect(item!.source.sha256).toBe(hash('sha256', JPEG));
  expect(media.added).toEqual([]);
});
