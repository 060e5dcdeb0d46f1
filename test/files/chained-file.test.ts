import { appendFile, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChainedFile } from '../../src/files/chained-file.ts';
import { NotRegularFileError } from '../../src/files/open-file.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { fileHandles } from '../helpers/file-handles.ts';

const { signal } = new AbortController();

let dir: string;
let path: string;

beforeEach(async () => {
  dir = await temporaryFolder();
  path = join(dir, 'folder', 'a.jsonl');
});

afterEach(() => vi.restoreAllMocks());

function opened() {
  const seqs: unknown[] = [];
  const take = ({ seq }: { readonly seq?: unknown }): void => void seqs.push(seq);
  return { file: new ChainedFile({ path, name: 'a.jsonl', genesis: 'begin', take }), seqs };
}

const lines = async (): Promise<string[]> => (await readFile(path, 'utf8')).split('\n').slice(0, -1);

async function appended(...seqs: number[]): Promise<void> {
  const { file } = opened();
  for (const seq of seqs) await file.append({ seq });
}

describe('a chained file', () => {
  it('is made with its first entry, for its owner only', async () => {
    const { file, seqs } = opened();
    await file.read(signal);
    await expect(stat(join(dir, 'folder'))).rejects.toThrow('ENOENT');
    await file.append({ seq: 3 });
    expect((await stat(join(dir, 'folder'))).mode & 0o777).toBe(0o700);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(seqs).toEqual([3]);
  });

  it('gives each process the entries of all others, once and in order', async () => {
    const [a, b] = [opened(), opened()];
    for (let seq = 0; seq < 10; seq++) await (seq % 3 === 0 ? a : b).file.append({ seq });
    await a.file.read(signal);
    await b.file.read(signal);
    expect(a.seqs).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(b.seqs).toEqual(a.seqs);
  });

  it('loses no entry of processes that append at the same time', async () => {
    const all = Array.from({ length: 4 }, () => opened());
    await Promise.all(Array.from({ length: 100 }, (_, seq) => all[seq % all.length]!.file.append({ seq })));
    const { file, seqs } = opened();
    await file.read(signal);
    expect(seqs.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, seq) => seq));
  });

  it.each([
    ['removed', (all: string[]) => all.toSpliced(1, 1)],
    ['changed', (all: string[]) => all.with(1, all[1]!.replace('"seq":1', '"seq":7'))],
    ['moved', (all: string[]) => [all[1]!, all[0]!, ...all.slice(2)]],
    ['of another file', (all: string[]) => all.with(0, all[0]!.replace(/"prev":"./, '"prev":"x'))],
  ])('is refused when a line was %s', async (_, change) => {
    await appended(0, 1, 2, 3);
    await writeFile(path, `${change(await lines()).join('\n')}\n`);
    const { file } = opened();
    await expect(file.read(signal)).rejects.toThrow(/^a.jsonl line \d does not follow/);
    await expect(file.append({ seq: 9 })).rejects.toThrow('does not follow');
  });

  it('goes on after a line that a crash tore', async () => {
    await appended(0);
    await appendFile(path, (await lines())[0]!.slice(0, 40));
    await appended(1, 2);
    const { file, seqs } = opened();
    await file.read(signal);
    expect(seqs).toEqual([0, 1, 2]);
  });

  it('is as it was after an append for which the disk has no room', async () => {
    const { file, seqs } = opened();
    await file.append({ seq: 0 });
    const before = await readFile(path);
    vi.spyOn(await fileHandles(path), 'write').mockImplementation(async (bytes: unknown) => {
      await appendFile(path, (bytes as Buffer).subarray(0, 30));
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    });
    const message = 'the disk is full: nothing was added to a.jsonl';
    await expect(file.append({ seq: 1 })).rejects.toMatchObject({ kind: 'service', message });
    vi.restoreAllMocks();
    expect(await readFile(path)).toEqual(before);
    await file.append({ seq: 2 });
    expect(seqs).toEqual([0, 2]);
  });

  it('is not written through a link', async () => {
    const elsewhere = join(dir, 'elsewhere');
    await writeFile(elsewhere, '');
    await mkdir(join(dir, 'folder'), 0o700);
    await symlink(elsewhere, path);
    await expect(opened().file.append({ seq: 0 })).rejects.toThrow(NotRegularFileError);
    expect(await readFile(elsewhere, 'utf8')).toBe('');
  });
});
