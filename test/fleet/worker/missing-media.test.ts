import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isRetryable, itemError, transientError } from '../../../src/domain/item-error.ts';
import type { Shard } from '../../../src/domain/shard.ts';
import { CorpusFolders } from '../../../src/moderate/media/corpus-folders.ts';
import { missingMedia } from '../../../src/fleet/worker/missing-media.ts';
import { StringTable } from '../../../src/fleet/jobs/rows.ts';
import { packOutcome, unpackOutcome } from '../../../src/fleet/jobs/outcome-row.ts';
import { asOrdinaryUser } from '../../helpers/ordinary-user.ts';

describe('what a worker sees of a corpus', () => {
  let root: string;
  let folders: CorpusFolders;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'guardsweep-unseen-'));
    mkdirSync(join(root, 'd'));
    folders = new CorpusFolders(new Map([['c', root]]));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const shardOf = (...paths: string[]): Shard => ({
    shard: 0,
    pass: 1,
    lane: 'image',
    items: paths.map((path, seq) => ({
      seq,
      id: path,
      source: {
        path: `c/${path}`,
        row: null,
        line: null,
        sha256: '0'.repeat(64),
        bytes: 3,
        offset: null,
        length: null,
      },
      roles: null,
      turn: null,
      part: null,
      request: {
        requestType: 'prompt',
        modality: 'image',
        file: { corpus: 'c', path, sha256: '0'.repeat(64), bytes: 3 },
        caption: null,
      },
      contentSha256: '0'.repeat(64),
      settled: null,
    })),
  });
  const landmarks = { c: { path: 'landmark', bytes: 3 } };

  test('is every file of the shard, not one', async () => {
    writeFileSync(join(root, 'd/a'), 'abc');
    const unseen = (...paths: string[]) => missingMedia(shardOf(...paths), landmarks, folders);
    expect(await unseen('d/a')).toBeNull();
    expect(await unseen('d/a', 'd/b')).toEqual({ corpus: 'c', isPartial: true });
    expect(await unseen('d/b')).toEqual({ corpus: 'c', isPartial: false });
    writeFileSync(join(root, 'landmark'), 'abc');
    expect(await unseen('d/b')).toEqual({ corpus: 'c', isPartial: true });
    writeFileSync(join(root, 'd/b'), 'another size');
    expect(await unseen('d/a', 'd/b')).toEqual({ corpus: 'c', isPartial: true });
    writeFileSync(join(root, 'd/b'), 'abc');
    expect(await unseen('d/a', 'd/b')).toBeNull();
  });

  test('is the corpus, whatever became of its files: those are for the judge', async () => {
    const unseen = (...paths: string[]) => missingMedia(shardOf(...paths), landmarks, folders);
    writeFileSync(join(root, 'landmark'), 'another size');
    expect(await unseen('landmark')).toEqual({ corpus: 'c', isPartial: true });
    expect(await unseen('d/b')).toEqual({ corpus: 'c', isPartial: true });
    rmSync(join(root, 'landmark'));
    writeFileSync(join(root, 'd/b'), 'another size');
    expect(await unseen('d/b')).toEqual({ corpus: 'c', isPartial: true });
    writeFileSync(join(root, 'd/b'), 'abc');
    chmodSync(join(root, 'd/b'), 0);
    await asOrdinaryUser(root, async () => {
      expect(await unseen('d/b')).toEqual({ corpus: 'c', isPartial: true });
    });
  });

  test('is a corpus that is one file while its folder is there, for that file may be gone', async () => {
    const file = join(root, 'd/only.jpg');
    const own = new CorpusFolders(new Map([['c', file]]));
    const unseen = (seen = own) => missingMedia(shardOf(''), { c: { path: '', bytes: 3 } }, seen);
    writeFileSync(file, 'abc');
    expect(await unseen()).toBeNull();
    writeFileSync(file, 'another size');
    expect(await unseen()).toEqual({ corpus: 'c', isPartial: true });
    rmSync(file);
    expect(await unseen()).toEqual({ corpus: 'c', isPartial: true });
    expect(await unseen(new CorpusFolders(new Map()))).toEqual({ corpus: 'c', isPartial: false });
    rmSync(join(root, 'd'), { recursive: true });
    expect(await unseen()).toEqual({ corpus: 'c', isPartial: false });
  });

  test('is only what it may read; that it may not is an error that can be tried again', async () => {
    writeFileSync(join(root, 'd/a'), 'abc');
    chmodSync(join(root, 'd/a'), 0);
    await asOrdinaryUser(root, async () => {
      expect(await missingMedia(shardOf('d/a'), landmarks, folders)).not.toBeNull();
      const error = await folders.open({ corpus: 'c', path: 'd/a' });
      expect(error).toMatchObject({ code: 'UNREADABLE_SOURCE', retryable: true });
    });
    const escape = await folders.open({ corpus: 'c', path: '../a' });
    if (!('code' in escape)) throw new Error('it was opened');
    expect(isRetryable(escape)).toBe(false);
  });

  test.each([transientError('UNREADABLE_SOURCE', 'words'), itemError('UNREADABLE_SOURCE', 'words')])(
    'travels with whether it may be tried again: %j',
    (error) => {
      const names = new StringTable();
      const failure = { error, attempts: 0, endpoint: null, moderatedAt: '2026-01-01T00:00:00.000Z' };
      const row = JSON.parse(JSON.stringify(packOutcome({ judgement: null, failure }, names))) as never;
      expect(unpackOutcome(row, names.list)).toEqual({ judgement: null, failure });
    },
  );
});
