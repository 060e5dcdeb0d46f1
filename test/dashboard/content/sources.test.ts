import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderWith } from '../../helpers/cli.ts';
import { jsonLines } from '../../helpers/run-directory.ts';
import { Asking } from './asking.ts';
import { judgedRun } from '../../helpers/judged-run.ts';

const TABLE = 'id,text\n1,<script>alert(1)</script>\n2,two\n';
const NONE = 'unavailable';

/** A run over a folder with `a.csv`, the table, and `whole.txt`. */
async function smallCorpus(options: Parameters<typeof judgedRun>[2] = {}) {
  const folder = await folderWith({ 'data/corpus/a.csv': TABLE, 'data/corpus/whole.txt': 'a whole text' });
  const corpus = join(folder, 'data', 'corpus');
  const table = join(corpus, 'a.csv');
  const run = await judgedRun(folder, corpus, options);
  return { folder, corpus, table, run, asking: await Asking.of(run, join(folder, 'data')) };
}

describe('the sources of a run', () => {
  test('are read although their times changed, as long as the content is the same', async () => {
    const { corpus, table, asking } = await smallCorpus();
    await utimes(table, 1, 1);
    await utimes(join(corpus, 'whole.txt'), 1, 1);
    expect(await asking.content(0)).toMatchObject({ kind: 'text', text: '<script>alert(1)</script>' });
    expect(await asking.content(2)).toMatchObject({ kind: 'text', text: 'a whole text' });
  });

  test('are not shown with other content', async () => {
    const { corpus, table, asking } = await smallCorpus();
    expect(await asking.content(1)).toMatchObject({ kind: 'text', text: 'two' });
    await writeFile(table, 'id,text\n1,<script>alert(1)</script>\n2,TWO\n');
    await writeFile(join(corpus, 'whole.txt'), 'another text');
    expect(await asking.content(0)).toMatchObject({ kind: 'text' });
    expect(await asking.content(1)).toMatchObject({ kind: NONE, reason: 'source_changed' });
    expect(await asking.content(2)).toMatchObject({ kind: NONE, reason: 'source_changed' });
  });

  test('are missing once they are moved', async () => {
    const { corpus, table, asking } = await smallCorpus();
    await rename(table, `${table}.bak`);
    expect(await asking.content(0)).toMatchObject({ kind: NONE, reason: 'source_missing' });
    await rm(corpus, { recursive: true });
    expect(await asking.content(2)).toMatchObject({ kind: NONE, reason: 'source_missing' });
  });

  test('are not followed out of the roots, nor out of the corpus', async () => {
    const { folder, table, asking } = await smallCorpus();
    const outside = join(folder, 'outside.csv');
    await writeFile(outside, TABLE);
    await rm(table);
    await symlink(outside, table);
    expect(await asking.content(0)).toMatchObject({ kind: NONE, reason: 'outside_root' });
    const beside = join(folder, 'data', 'beside.csv');
    await writeFile(beside, TABLE);
    await rm(table);
    await symlink(beside, table);
    expect(await asking.content(0)).toMatchObject({ kind: NONE, reason: 'not_readable' });
  });

  test('are not waited for in place of a pipe or a device', async () => {
    const { table, asking } = await smallCorpus();
    await rm(table);
    execFileSync('mkfifo', [table]);
    expect(await asking.content(0)).toMatchObject({ kind: NONE, reason: 'source_changed' });
    await rm(table);
    await symlink('/dev/zero', table);
    expect(await asking.content(0)).toMatchObject({ kind: NONE, reason: 'outside_root' });
  });

  test('are not read outside of the roots', async () => {
    const { folder, run } = await smallCorpus();
    const other = join(folder, 'other');
    await mkdir(other);
    const asking = await Asking.of(run, other);
    expect(await asking.reasons(0)).toEqual(['outside_root', 'outside_root']);
  });

  test('are not read for a run that somebody else created, or can change', async () => {
    const foreign = await smallCorpus({ own: false });
    expect(await foreign.asking.reasons(0)).toEqual(['not_your_run', 'not_your_run']);
    const shared = await smallCorpus();
    await chmod(shared.run.dir, 0o777);
    expect(await shared.asking.reasons(0)).toEqual(['not_your_run', 'not_your_run']);
  });

  test('are not shown any more once the log of that was cut off, or removed', async () => {
    const { asking } = await smallCorpus();
    const { log } = asking;
    for (const seq of [0, 1, 2]) expect(await asking.content(seq)).toMatchObject({ kind: 'text' });
    const before = await readFile(log, 'utf8');
    await writeFile(log, before.slice(0, before.indexOf('\n') + 1));
    for (let times = 0; times < 2; times++) {
      const cut = await asking.ask(0, 'content');
      expect([cut.status, await cut.text()]).toEqual([503, expect.stringContaining('has become shorter')]);
    }
    await rm(log);
    expect((await asking.ask(0, 'media')).status).toBe(409);
    expect((await asking.ask(0, 'content')).status).toBe(503);
    await writeFile(log, before, { mode: 0o600 });
    expect(await asking.content(0)).toMatchObject({ kind: 'text' });
  });

  test('are not shown when that cannot be logged', async () => {
    const { run, asking } = await smallCorpus();
    await mkdir(asking.log, { recursive: true, mode: 0o700 });
    const response = await asking.ask(0, 'content');
    expect(response.status).toBe(503);
    const text = await response.text();
    expect(text).toContain('nothing is shown, because viewing cannot be logged');
    expect(text).not.toContain('alert');
    await rm(join(run.dir, 'review'), { recursive: true });
    expect(await asking.content(0)).toMatchObject({ kind: 'text' });
  });
});

describe('requests for content', () => {
  test('may come many at once, and each is logged', async () => {
    const { asking } = await smallCorpus();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => asking.content(index % 3)));
    expect(answers.map(({ kind }) => kind)).toEqual(new Array(20).fill('text'));
    expect(await jsonLines(asking.log)).toHaveLength(20);
    expect(await readFile(asking.log, 'utf8')).not.toContain('alert');
  });

  test('end when the client goes away, and leave the server as it was', async () => {
    const { asking } = await smallCorpus();
    const { origin, cookie, pageKey, said } = asking.served;
    const headers = { cookie, 'x-page-key': pageKey, origin, 'content-type': 'application/json' };
    for (let index = 0; index < 10; index++) {
      const aborted = request(origin + asking.path(index % 3, 'content'), { method: 'POST', headers });
      const closed = new Promise<void>((resolve) => aborted.once('close', () => resolve()));
      aborted.on('error', () => undefined);
      aborted.end('{}');
      if (index % 2 === 0) await new Promise<void>((resolve) => aborted.once('finish', () => resolve()));
      aborted.destroy();
      await closed;
    }
    expect(await asking.content(0)).toMatchObject({ kind: 'text' });
    expect(said).toEqual([]);
  });
});
