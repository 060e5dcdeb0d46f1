import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { folderWith, temporaryFolder } from '../../helpers/cli.ts';
import { filesOf, jsonLines } from '../../helpers/run-directory.ts';
import { cleanOf, exported, judgedRun } from './judged-run.ts';

interface Rejected {
  readonly path: string;
  readonly row: number | null;
  readonly line: number | null;
  readonly reasons: readonly { readonly reason: string; readonly code?: string }[];
}

const text = async (cwd: string, name: string, content: string | Buffer, options = {}): Promise<string> =>
  (await cleanOf(cwd, name, content, options)).toString();

describe('the clean rows of a run', () => {
  it('are those that are allowed, as they are; the rest is listed with the reasons and without content', async () => {
    const cwd = await temporaryFolder();
    const table =
      '\ufeffid;text\r\n1;"hello ""you"""\r\n\r\n2;BLOCK secret\r\n3; kept \r\n4;FAIL\r\n5;REVIEW\r\n6;PART\r\n7;a;b\r\n8;last';
    await writeFile(join(cwd, 'a.csv'), table);
    const dir = await judgedRun(cwd, ['a.csv']);
    const { status, result } = await exported(cwd, dir, '--clean', 'out.csv');
    expect(await readFile(join(cwd, 'out.csv'), 'utf8')).toBe(
      '\ufeffid;text\r\n1;"hello ""you"""\r\n\r\n3; kept \r\n8;last',
    );
    expect(status).toBe(5);
    expect(result).toMatchObject({
      rows: { kept: 3, rejected: 5 },
      by_reason: { block: 1, review: 1, error: 2, partial: 1 },
      sources: { written: 1, refused: 0 },
    });
    const rejected = await jsonLines<Rejected>(join(cwd, 'out.rejected.jsonl'));
    const found = rejected.map((each) => [each.row, each.line, ...each.reasons.map(({ reason }) => reason)]);
    expect(found.map((each) => each.join(' '))).toEqual([
      ...['2 4 block', '4 6 error', '5 7 review', '6 8 partial', '7 9 error'],
    ]);
    const first = { decided_by: 'score>=0.8', categories: ['hate'], seq: 1, id: '2' };
    expect(rejected[0]!.reasons[0]).toMatchObject(first);
    expect(await readFile(join(cwd, 'out.rejected.jsonl'), 'utf8')).not.toContain('secret');
    expect((await filesOf(cwd)).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  it('are rows of which every item is allowed', async () => {
    const cwd = await temporaryFolder();
    const pair = (chosen: string, rejected: string) => JSON.stringify({ prompt: 'p', chosen, rejected });
    const lines = [pair('a', 'b'), pair('a', 'BLOCK'), pair('FAIL', 'b'), pair('c', 'd')];
    const kept = await text(cwd, 'pairs.jsonl', `${lines.join('\n')}\n`);
    expect(kept).toBe(`${lines[0]}\n${lines[3]}\n`);
    const turns = (...texts: string[]): string =>
      JSON.stringify({ messages: texts.map((content) => ({ role: 'user', content })) });
    const chats = [turns('a', 'BLOCK', 'b'), turns('a', 'b'), turns('PART')];
    const config = { audit: 'every-turn' };
    expect(await text(cwd, 'chats.jsonl', chats.join('\n'), { config })).toBe(`${chats[1]}\n`);
  });

  it('of a JSON array are a valid array of the elements as they were, whichever are left out', async () => {
    const cwd = await temporaryFolder();
    const element = (value: string): string => `{ "text":  "${value}" }`;
    const array = (...values: string[]): string => `[\n  ${values.map(element).join(',\n  ')}\n]\n`;
    const clean = (name: string, ...values: string[]) => text(cwd, name, array(...values));
    expect(await clean('all.json', 'a', 'b')).toBe(array('a', 'b'));
    expect(await clean('first.json', 'BLOCK', 'b', 'c')).toBe(array('b', 'c'));
    expect(await clean('middle.json', 'a', 'BLOCK', 'BLOCK', 'c')).toBe(array('a', 'c'));
    expect(await clean('last.json', 'a', 'BLOCK')).toBe(array('a'));
    expect(await clean('none.json', 'BLOCK')).toBe('[\n  \n]\n');
    const values = `${element('a')}\n${element('BLOCK')}\n\n${element('c')}`;
    expect(await text(cwd, 'values.json', values)).toBe(`${element('a')}\n\n${element('c')}`);
    const around = `{"about": "PART", "data": [${element('a')}, ${element('b')}]}`;
    expect(await text(cwd, 'around.json', around)).toBe(`[${element('a')}, ${element('b')}]\n`);
  });

  it('are UTF-8 whatever the encoding of their source, compressed ones too', async () => {
    const cwd = await temporaryFolder();
    const rows = 'text\r\ncaf\u00e9\r\nBLOCK \u00e9\r\n\u00fc\r\n';
    const kept = 'text\r\ncaf\u00e9\r\n\u00fc\r\n';
    const utf16 = (value: string): Buffer => Buffer.from(`\ufeff${value}`, 'utf16le');
    expect((await cleanOf(cwd, 'utf16.csv', utf16(rows))).toString()).toBe(`\ufeff${kept}`);
    const latin = Buffer.from(rows, 'latin1');
    const config = { encoding: 'windows-1252' };
    expect((await cleanOf(cwd, 'latin.csv', latin, { config })).toString()).toBe(kept);
    const packed = await cleanOf(cwd, 'packed.csv.gz', gzipSync(rows), { out: 'packed-out.csv.gz' });
    expect(gunzipSync(packed).toString()).toBe(kept);
    expect(await text(cwd, 'unpacked.csv.gz', gzipSync(rows), { out: 'unpacked.csv' })).toBe(kept);
  });
});

describe('the clean files of a folder', () => {
  it('mirror it, with tables and whole files', async () => {
    const cwd = await folderWith({
      'up/a.jsonl': '{"text":"a"}\n{"text":"BLOCK"}\n',
      'up/deep/note.txt': 'a note\n',
      'up/deep/bad.txt': 'BLOCK this\n',
      'up/deep/er/caf\u00e9 \\x41.md': 'kept',
      'up/deep/unknown.bin': Buffer.from('7f454c4602010100', 'hex'),
      'up/z.csv.gz': gzipSync('text\nhello\nBLOCK\n'),
    });
    const dir = await judgedRun(cwd, ['up']);
    const { status, result } = await exported(cwd, dir, '--clean', 'out');
    expect(status).toBe(5);
    expect(result).toMatchObject({ rows: { kept: 4, rejected: 4 }, by_reason: { block: 3, error: 1 } });
    expect(await filesOf(join(cwd, 'out'))).toEqual([
      ...['up/a.jsonl', 'up/deep/er/caf\u00e9 \\x41.md', 'up/deep/note.txt', 'up/z.csv.gz'],
    ]);
    expect(await readFile(join(cwd, 'out/up/a.jsonl'), 'utf8')).toBe('{"text":"a"}\n');
    expect(gunzipSync(await readFile(join(cwd, 'out/up/z.csv.gz'))).toString()).toBe('text\nhello\n');
    expect((await stat(join(cwd, 'out', 'up', 'deep'))).mode & 0o777).toBe(0o700);
    const rejected = await jsonLines<Rejected>(join(cwd, 'out.rejected.jsonl'));
    expect(rejected.map(({ path, row }) => [path, row])).toEqual([
      ['up/a.jsonl', 2],
      ['up/deep/bad.txt', null],
      ['up/deep/unknown.bin', null],
      ['up/z.csv.gz', 2],
    ]);
  });

  it('hold nothing of a source that is not what the run read', async () => {
    const cwd = await temporaryFolder();
    const up = join(cwd, 'up');
    await mkdir(up);
    const names = ['changed.csv', 'gone.csv', 'touched.csv', 'text.txt', 'grown.csv'];
    for (const name of names) await writeFile(join(up, name), 'text\nhello\n');
    const dir = await judgedRun(cwd, ['up']);
    await writeFile(join(up, 'changed.csv'), 'text\nhellO\n');
    await writeFile(join(up, 'text.txt'), 'text\nhellO\n');
    await writeFile(join(up, 'grown.csv'), 'text\nhello\nmore\n');
    await utimes(join(up, 'touched.csv'), 1, 1);
    await rm(join(up, 'gone.csv'));
    const { status, result } = await exported(cwd, dir, '--clean', 'out');
    expect(status).toBe(5);
    expect(result).toMatchObject({
      rows: { kept: 1, rejected: 4 },
      by_reason: { source_changed: 3, source_unreadable: 1 },
      sources: {
        written: 1,
        refused: 4,
        refused_paths: [
          { path: 'up/changed.csv', reason: 'source_changed' },
          { path: 'up/gone.csv', reason: 'source_unreadable' },
          { path: 'up/grown.csv', reason: 'source_changed' },
          { path: 'up/text.txt', reason: 'source_changed' },
        ],
      },
    });
    expect(await filesOf(join(cwd, 'out'))).toEqual(['up/touched.csv']);
  });
});
