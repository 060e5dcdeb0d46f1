import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noteHead } from '../../../src/sink/note-head.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { type NotedHead, readNotedHeads } from '../../../src/record/head-file.ts';
import { temporaryFolder, folderWith } from '../../helpers/cli.ts';
import { reseal } from '../reseal.ts';
import { finishedRun, problemOf, signal, finishPass } from '../run-fixture.ts';
import { resultOf, shardOf } from '../shards.ts';

const HEAD = 'b'.repeat(64);

/** A head as it is noted in a head file. */
const noted = (run: string, pass: number, head: string): NotedHead => {
  return { at: '2026-11-21T02:00:00.000Z', run, pass, head, manifest: 'a'.repeat(64) };
};

describe('verify with a head file', () => {
  it('wants the last head of the run at the end of the chain, and the earlier ones in it', async () => {
    const { dir, record, head } = await finishedRun([resultOf(shardOf(0, [0, 1]))]);
    const headFile = join(await temporaryFolder(), 'heads.jsonl');
    await noteHead(headFile, noted('another', 1, HEAD), signal);
    expect(await problemOf(dir, { headFile })).toBe(`heads.jsonl has no head of the run ${record.run}`);
    await noteHead(headFile, noted(record.run, 1, head), signal);
    expect(await verifyRun(dir, { headFile })).toMatchObject({ ok: true });

    const log = await finishPass({ dir, record }, [resultOf(shardOf(1, [0], { pass: 2 }))]);
    expect(await problemOf(dir, { headFile })).toContain('and the log continues after it');
    await noteHead(headFile, noted(record.run, 2, log.head), signal);
    expect(await verifyRun(dir, { headFile })).toMatchObject({ ok: true, pass: 2 });

    // A record that was made anew after its head was noted.
    const finished_at = '2020-01-01T00:00:00.000Z';
    const forged = await reseal(dir, (manifest) => ({ ...manifest, finished_at }));
    expect(await problemOf(dir, { headFile })).toBe(`the chain head is ${forged}, not the expected one`);
    // Whoever also gets their head noted does not get rid of the one before.
    await noteHead(headFile, noted(record.run, 2, forged), signal);
    expect(await problemOf(dir, { headFile })).toBe(
      'the chain lacks the head of pass 2, recorded at 2026-11-21T02:00:00.000Z',
    );
  });
});

describe('a head file', () => {
  it('is for its owner alone, and has a line for each head, which is noted once', async () => {
    const path = join(await temporaryFolder(), 'heads.jsonl');
    await noteHead(path, noted('one', 1, HEAD), signal);
    await noteHead(path, noted('two', 1, HEAD), signal);
    await noteHead(path, noted('one', 1, HEAD), signal);
    await noteHead(path, noted('one', 2, 'c'.repeat(64)), signal);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(4);
    expect(await readNotedHeads(path, 'one', signal)).toEqual([
      noted('one', 1, HEAD),
      noted('one', 2, 'c'.repeat(64)),
    ]);
  });

  it('goes on in a new line behind one that was torn off, and skips what is no head', async () => {
    const path = join(await temporaryFolder(), 'heads.jsonl');
    await writeFile(path, 'null\n{"run":"one","head":7}\n{"at":"20');
    await noteHead(path, noted('one', 1, HEAD), signal);
    expect(await readNotedHeads(path, 'one', signal)).toEqual([noted('one', 1, HEAD)]);
  });

  it('is not followed when it is a link', async () => {
    const folder = await folderWith({ target: '' });
    await symlink(join(folder, 'target'), join(folder, 'heads.jsonl'));
    await expect(noteHead(join(folder, 'heads.jsonl'), noted('one', 1, HEAD), signal)).rejects.toThrow();
    expect(await readFile(join(folder, 'target'), 'utf8')).toBe('');
  });
});
