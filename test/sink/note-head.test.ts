import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readNotedHeads } from '../../src/record/head-file.ts';
import { noteHead } from '../../src/sink/note-head.ts';
import { folderWith, temporaryFolder } from '../helpers/cli.ts';
import { noted, signal } from '../record/run-fixture.ts';

const HEAD = 'b'.repeat(64);

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
