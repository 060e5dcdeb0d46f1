import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeLine } from '../../../src/files/checked-line.ts';
import { ReviewFile } from '../../../src/dashboard/reviews/review-file.ts';
import type { RunRecord } from '../../../src/config/run-config.ts';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { isFileOfRun } from '../../../src/ingest/discover/walk/run-directory.ts';
import {
  flaggedColumns,
  RESTRICTED_COLUMNS,
  verdictColumns,
} from '../../../src/analysis/tables/table-columns.ts';
import { guardsweep, temporaryFolder } from '../../helpers/cli.ts';
import { onlyRun } from '../../helpers/run-directory.ts';
import { corpus, NEVER } from '../read-items.ts';

const MAIN = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));

let root: string;

beforeEach(async () => {
  root = join(await temporaryFolder(), 'c');
  mkdirSync(root);
});

function lay(path: string, content: string | Buffer = 'threat'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

async function found(path = root) {
  const { sources, skipped, skippedFiles } = await expandSources([corpus(path)], NEVER);
  return { paths: sources.map((source) => source.path), skipped, list: [...skippedFiles] };
}

/** An owner file of Word (53 characters) or Excel (54). */
function ownerFile(characters: number, padding: number, name = 'Ada'): Buffer {
  const bytes = Buffer.alloc(1 + characters + 2 + 2 * characters, padding);
  bytes[0] = name.length;
  bytes.write(name, 1, 'latin1');
  bytes.writeUInt16LE(name.length, 1 + characters);
  for (let at = 3 + characters; at < bytes.length; at += 2) bytes.writeUInt16LE(padding, at);
  bytes.write(name, 3 + characters, 'utf16le');
  return bytes;
}

/** A Finder file of two blocks. */
function finderFile(): Buffer {
  const bytes = Buffer.alloc(6148);
  bytes.write('\0\0\0\x01Bud1', 'latin1');
  bytes.writeUInt32BE(0x1000, 8);
  bytes.writeUInt32BE(0x800, 12);
  bytes.writeUInt32BE(0x1000, 16);
  return bytes;
}

/** A compound file whose directory has these streams. */
function compoundFile(...names: string[]): Buffer {
  const bytes = Buffer.alloc(2048);
  bytes.write('d0cf11e0a1b11ae1', 'hex');
  bytes.writeUInt16LE(9, 30);
  bytes.writeUInt32LE(1, 48);
  for (const [index, name] of ['Root Entry', ...names].entries()) {
    const at = 1024 + 128 * index;
    bytes.write(name, at, 'utf16le');
    bytes.writeUInt16LE(2 * name.length + 2, at + 64);
    bytes[at + 66] = index === 0 ? 5 : 2;
  }
  return bytes;
}

/** What macOS keeps of a file elsewhere: Finder information, and a resource fork. */
function appleDouble(kinds = [9, 2]): Buffer {
  const bytes = Buffer.alloc(4096);
  bytes.write('00051607000200004d6163204f5320582020202020202020', 'hex');
  bytes.writeUInt16BE(kinds.length, 24);
  for (const [index, kind] of kinds.entries()) {
    bytes.writeUInt32BE(kind, 26 + 12 * index);
    bytes.writeUInt32BE(index === 0 ? 50 : 3810, 30 + 12 * index);
    bytes.writeUInt32BE(index === 0 ? 3760 : 286, 34 + 12 * index);
  }
  return bytes;
}

const SETTINGS = [
  '[.ShellClassInfo]',
  'LocalizedResourceName=@%SystemRoot%\\system32\\shell32.dll,-21770',
  'IconResource=%SystemRoot%\\system32\\imageres.dll,-112',
  '[ViewState]',
  'Mode=',
  'FolderType=Pictures',
  '[LocalizedFileNames]',
  'My Notes.lnk=@%SystemRoot%\\system32\\shell32.dll,-22',
  '',
].join('\r\n');

describe('leftovers', () => {
  test('are passed over and listed', async () => {
    lay('a.txt');
    lay('.DS_Store', finderFile());
    lay('x/Thumbs.db', compoundFile('Catalog', '1', '256_79dea834bece3f6b'));
    lay('~$report.docx', ownerFile(53, 0));
    lay('~$sheet.xlsx', ownerFile(54, 0x20));
    lay('y/.DS_Store', '');
    lay('z/._song.mp3', appleDouble());
    lay('z/desktop.ini', Buffer.from(`\ufeff${SETTINGS}`, 'utf16le'));
    lay('zz/Desktop.ini', SETTINGS);
    const { paths, skipped, list } = await found();
    expect(paths).toEqual(['c/a.txt']);
    expect(skipped).toEqual({ 'system files': 8 });
    expect(list).toEqual(
      [
        '.DS_Store',
        'x/Thumbs.db',
        'y/.DS_Store',
        'z/._song.mp3',
        'z/desktop.ini',
        'zz/Desktop.ini',
        '~$report.docx',
        '~$sheet.xlsx',
      ].map((path) => ({
        path: `c/${path}`,
        reason: 'system files',
      })),
    );
  });

  test.each([
    ['a text', '.DS_Store', 'threat'],
    ['a text', '~$threat.txt', 'threat'],
    ['a text', 'Thumbs.db', 'threat'],
    ['a text as long as an owner file', '~$a.docx', 'threat '.repeat(24).slice(0, 162)],
    ['an owner file with text behind the name', '~$a.docx', ownerFile(53, 0).fill('threat', 80)],
    ['a text behind the mark', '.DS_Store', `\0\0\0\x01Bud1${'threat '.repeat(1000)}`],
    [
      'a text behind the header',
      '.DS_Store',
      Buffer.concat([finderFile().subarray(0, 20), Buffer.from('a threat\n'.repeat(1000))]),
    ],
    ['a Word document', 'Thumbs.db', compoundFile('1Table', 'WordDocument')],
    ['a text', 'desktop.ini', 'threat'],
    ['settings with words', 'desktop.ini', `${SETTINGS}InfoTip=I will find you\r\n`],
    ['settings with words behind them', 'desktop.ini', `${SETTINGS}I will find you\r\n`],
    ['a text', '._notes.txt', 'threat'],
    ['AppleSingle with the data of the file', '._notes.txt', appleDouble([9, 1])],
    ['a picture', '.DS_Store', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
  ])('%s is a file like any other under the name %s', async (_what, name, content) => {
    lay(name, content);
    expect(await found()).toEqual({ paths: [`c/${name}`], skipped: {}, list: [] });
  });
});

describe('earlier runs', () => {
  let folder: string;
  let runs: string;
  let run: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'guardsweep-earlier-'));
    writeFileSync(join(folder, 'rows.csv'), 'text\nhello\nI will kill you\n');
    writeFileSync(join(folder, '.DS_Store'), finderFile());
    const chat = { messages: [{ role: 'user', content: 'hello' }] };
    writeFileSync(join(folder, 'chat.jsonl'), `${JSON.stringify(chat)}\n`);
    runs = join(folder, 'runs');
    const options = ['--out', runs, '--audit', 'every-turn', '--format', 'csv,parquet', '--quiet'];
    execFileSync(process.execPath, [MAIN, 'enqueue', folder, ...options], { stdio: 'ignore' });
    run = basename(await onlyRun(runs));
    const reviews = await ReviewFile.open({ dir: join(runs, run), run }, 'reviews', () => undefined);
    await reviews.append({ seq: 0, decision: 'allow' });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('their own files are passed over and listed, one by one', async () => {
    lay('a.txt');
    cpSync(join(runs, run), join(root, 'runs', run), { recursive: true });
    const { paths, skipped, list } = await found();
    expect(paths).toEqual(['c/a.txt']);
    expect(Object.keys(skipped)).toEqual(['files of earlier runs']);
    expect(list).toHaveLength(skipped['files of earlier runs']!);
    const names = list.map(({ path }) => path.replace(`c/runs/${run}/`, ''));
    expect(names).toEqual([...names].sort());
    for (const name of readdirSync(join(runs, run))) expect(names.join()).toContain(name);
    expect(names).toContain('skipped.jsonl');
    expect(names).toContain('conversations.jsonl');
    expect(names).toContain('verdicts.parquet');
    expect(names).toContain('log/0001-000001.jsonl');
    expect(names).toContain('review/reviews.jsonl');
  });

  test('the list is part of their record', async () => {
    const dir = join(root, run);
    cpSync(join(runs, run), dir, { recursive: true });
    // What was laid there is no chain.
    rmSync(join(dir, 'review'), { recursive: true });
    const list = readFileSync(join(dir, 'skipped.jsonl'), 'utf8');
    const line = encodeLine({ path: `${basename(folder)}/.DS_Store`, reason: 'system files' });
    expect(list).toBe(`${line}\n`);
    expect((await guardsweep(['verify', dir])).status).toBe(0);
    lay(`${run}/skipped.jsonl`, list.replace('DS_Store', 'DS_Stone'));
    const { status, stdout } = await guardsweep(['verify', dir]);
    expect([status, stdout]).toEqual([1, expect.stringContaining('skipped.jsonl') as string]);
  });

  test.each([',', ';', '\t'] as const)('tables separated by %j are known as theirs', async (separator) => {
    const headOf = (columns: readonly { readonly name: string }[]): string =>
      `\ufeff${columns.map(({ name }) => name).join(separator)}\r\n`;
    const { config } = JSON.parse(readFileSync(join(runs, run, 'run.json'), 'utf8')) as RunRecord;
    const heads: [string, string][] = [
      ['verdicts.csv', headOf(verdictColumns(config, []))],
      ['flagged.csv', headOf(flaggedColumns(config))],
      ['flagged-2.csv', headOf(flaggedColumns(config))],
      ['restricted.csv', headOf(RESTRICTED_COLUMNS)],
    ];
    for (const [name, head] of heads) {
      lay(name, head);
      expect([name, await isFileOfRun(join(root, name), name, run)]).toEqual([name, true]);
      lay(name, head.replace(separator, ' '));
      expect([name, await isFileOfRun(join(root, name), name, run)]).toEqual([name, false]);
    }
  });

  test('a folder with nothing else is a usage failure that says so', async () => {
    await expect(found(join(runs, run))).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('those of earlier runs, which are skipped') as string,
    });
  });

  test('whatever else is in their directories is judged', async () => {
    cpSync(join(runs, run), join(root, run), { recursive: true });
    const planted = [
      'notes.txt',
      'verdicts.txt',
      'log/notes.txt',
      'log/0001-000009.jsonl',
      'control/cancelled',
      'review/reviews.jsonl',
      'review/notes.txt',
      'flagged-2.csv',
      'verdicts.jsonl',
      'verdicts.csv',
      'verdicts.parquet',
      'restricted.csv',
      'batch_output.jsonl',
      'errors.jsonl',
      '.0001-verdicts.jsonl.tmp',
      'deep/verdicts.jsonl',
      'log/deep/0001-000001.jsonl',
    ];
    for (const name of planted) lay(`${run}/${name}`, 'text\n{"text":"threat"}\n');
    symlinkSync('notes.txt', join(root, run, 'manifest.4.json'));
    const { paths } = await found();
    expect(paths).toEqual(planted.map((name) => `c/${run}/${name}`).sort());
  });

  test.each([
    ['a name that is not its run', 'other', {}],
    ['the record of another program', '', { tool: { name: 'x', version: '1' } }],
    ['a record that says only whose it is', '', { config: undefined }],
    ['a record without sources', '', { config: { sources: [] } }],
  ])('a folder with %s is one like any other', async (_what, name, changes) => {
    const record = JSON.parse(readFileSync(join(runs, run, 'run.json'), 'utf8')) as object;
    cpSync(join(runs, run), join(root, run), { recursive: true });
    lay(`${run}/run.json`, `${JSON.stringify({ ...record, ...changes }, null, 2)}\n`);
    if (name !== '') renameSync(join(root, run), join(root, name));
    const { paths, skipped } = await found();
    expect(paths.map((path) => basename(path))).toContain('verdicts.jsonl');
    expect(skipped).toEqual({});
  });

  test.each([
    ['is nested deeply', '['.repeat(1_000_000)],
    ['is larger than any', Buffer.alloc(20_000_000, ' ')],
  ])('a run.json that %s is judged', async (_what, content) => {
    lay('d/run.json', content);
    expect((await found()).paths).toEqual(['c/d/run.json']);
  });
});

test('a list of a hundred thousand takes little memory and keeps its order', async () => {
  const { SkippedFiles } = await import('../../../src/ingest/discover/walk/skipped-files.ts');
  const skipped = new SkippedFiles();
  const names = Array.from({ length: 100_000 }, (_, index) => `runs/of/the/night/${index}/"\n${index}.txt`);
  for (const [index, name] of names.entries()) {
    skipped.enter(index % 2);
    skipped.add('broken links', name);
  }
  expect([...skipped.files(['a', 'b (2)'])]).toEqual(
    names.map((name, index) => ({
      path: `${index % 2 === 0 ? 'a' : 'b (2)'}/${name}`,
      reason: 'broken links',
    })),
  );
});
