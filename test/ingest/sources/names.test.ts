import { hash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { corpusRoots } from '../../../src/ingest/sources/file-place.ts';
import type { Item } from '../../../src/domain/item.ts';
import { CorpusFolders } from '../../../src/moderate/media/corpus-folders.ts';
import { hashSource } from '../../../src/sink/final-files/write-source-hashes.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { asked, corpus, itemsOf, JPEG, listed, NEVER, readItems } from '../read-items.ts';

describe('files whose names are not UTF-8', () => {
  let root: string;
  beforeEach(async () => {
    root = join(await temporaryFolder(), 'c');
    mkdirSync(root);
  });

  const below = (name: string): Buffer => Buffer.from(`${root}/${name}`, 'latin1');
  const write = (name: string, content: string | Buffer): void => writeFileSync(below(name), content);

  test('are items under the recorded form, in bytewise order, beside names that look like it', async () => {
    mkdirSync(below('d\xff'));
    write('d\xff/\xe9.txt', 'deep');
    write('caf\xe9.txt', 'broken');
    write('caf\xe8.txt', 'other');
    write('caf\\xe9.txt', 'literal');
    write('caf\xc3\xa9.txt', 'sound');
    symlinkSync(Buffer.from('caf\xe9.txt', 'latin1'), below('\xfe.txt'));
    const items = await readItems([corpus(root)]);
    expect(items.map((item) => [item.id, asked(item)])).toEqual([
      ['caf\\x5cxe9.txt', 'literal'],
      ['café.txt', 'sound'],
      ['caf\\xe8.txt', 'other'],
      ['caf\\xe9.txt', 'broken'],
      ['d\\xff/\\xe9.txt', 'deep'],
    ]);
    expect(await readItems([corpus(`${root}/*.txt`)])).toHaveLength(4);
  });

  test('are captions, described by them or by a manifest, opened by workers, and hashed', async () => {
    write('\xe9.jpg', JPEG);
    write('\xe9.txt', 'beside');
    write('\xff.jpg', JPEG);
    write('\\xff.jpg', JPEG);
    write('manifest.csv', 'path,id,caption\n\\xff.jpg,bytes,of bytes\n\\x5cxff.jpg,letters,of letters\n');
    const { sources, configs } = await listed(root);
    const items = await itemsOf(sources, configs);
    const caption = ({ request }: Item) => request && 'caption' in request && request.caption;
    expect(items.map((item) => `${item.id}: ${caption(item)}`)).toEqual([
      'letters: of letters',
      '\\xe9.jpg: beside',
      'bytes: of bytes',
    ]);
    const folders = new CorpusFolders(corpusRoots(sources));
    for (const item of items) {
      const { file } = item.request as { file: { corpus: string; path: string } };
      const handle = await folders.open(JSON.parse(JSON.stringify(file)) as typeof file, NEVER);
      if ('code' in handle) throw new Error(handle.message);
      expect(await (await handle.descriptor()).readFile()).toEqual(JPEG);
      await handle.close();
      const source = sources.find(({ path }) => path === item.source.path)!;
      expect(await hashSource(source, NEVER)).toBe(hash('sha256', JPEG));
    }
  });

  test('do not lead out of a corpus, escaped or not', async () => {
    writeFileSync(join(root, '..', 'secret.jpg'), JPEG);
    mkdirSync(join(root, 'd'));
    const folders = new CorpusFolders(new Map([['c', root]]));
    const secret = join(root, '..', 'secret.jpg');
    const escaped = ['\\x2e\\x2e/secret.jpg', 'd/\\x2e\\x2e/\\x2e\\x2e/secret.jpg', '..\\x2fsecret.jpg'];
    for (const path of [...escaped, '../secret.jpg', secret, ''])
      expect(await folders.open({ corpus: 'c', path }, NEVER)).toMatchObject({ code: 'UNREADABLE_SOURCE' });
    const elsewhere = await folders.open({ corpus: 'other', path: 'secret.jpg' }, NEVER);
    expect(elsewhere).toMatchObject({ code: 'UNREADABLE_SOURCE' });
  });
});
