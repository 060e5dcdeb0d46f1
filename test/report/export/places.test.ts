import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../../helpers/cli.ts';
import { typed } from '../../cli/terminal.ts';
import { newRun } from '../../record/run-fixture.ts';
import { exported, judgedRun } from './judged-run.ts';

/** A finished run over `up/a.csv`. */
async function smallRun(): Promise<{ cwd: string; dir: string }> {
  const cwd = await folderWith({ 'up/a.csv': 'text\nhello\n' });
  return { cwd, dir: await judgedRun(cwd, ['up']) };
}

describe('an export', () => {
  it('overwrites nothing, and is neither in a folder of the sources nor in a run directory', async () => {
    const { cwd, dir } = await smallRun();
    for (const name of ['taken', 'other.rejected.jsonl', 'third.export.json'])
      await writeFile(join(cwd, name), 'x');
    await symlink('nowhere', join(cwd, 'dangling'));
    await symlink(join(cwd, 'up'), join(cwd, 'link'));
    const places: [string, RegExp][] = [
      ['taken', /taken exists/],
      ['other', /other\.rejected\.jsonl exists/],
      ['third', /third\.export\.json exists/],
      ['dangling', /dangling exists/],
      ['missing/clean', /missing is not a folder/],
      ['up/clean', /in a folder of the sources/],
      ['link/clean', /in a folder of the sources/],
      [join(dir, 'clean'), /in a run directory/],
    ];
    const before = await readdir(cwd, { recursive: true });
    for (const [out, problem] of places) {
      const { status, stderr } = await exported(cwd, dir, '--clean', out);
      expect([status, stderr]).toEqual([2, expect.stringMatching(problem)]);
    }
    expect((await readdir(cwd, { recursive: true })).filter((path) => !path.startsWith('.state'))).toEqual(
      expect.arrayContaining(before.filter((path) => !path.includes('seal'))),
    );
    expect(await readFile(join(cwd, 'taken'), 'utf8')).toBe('x');
  });

  it('needs a run that was created here, or is trusted', async () => {
    const { cwd, dir } = await smallRun();
    const context = { cwd, env: { XDG_STATE_HOME: join(cwd, '.state') } };
    const refused = await typed(['export', dir, '--clean', 'clean'], { context });
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('--trust-run')]);
    expect(refused.stderr).toContain(`it copies from ${join(cwd, 'up')}`);
    expect((await exported(cwd, dir, '--clean', 'clean')).status).toBe(0);
  });

  it('needs a finished run whose record holds', async () => {
    const { cwd, dir } = await smallRun();
    const unfinished = await newRun();
    const open = await exported(cwd, unfinished.dir, '--clean', 'clean');
    expect([open.status, open.stderr]).toEqual([1, expect.stringContaining('not finished')]);
    expect((await exported(cwd, cwd, '--clean', 'clean')).status).toBe(2);
    const altered = join(cwd, 'runs', 'altered');
    await cp(dir, altered, { recursive: true });
    const verdicts = await readFile(join(altered, 'verdicts.jsonl'), 'utf8');
    await writeFile(join(altered, 'verdicts.jsonl'), verdicts.replace('"score":0.1', '"score":0.2'));
    const { status, stderr } = await exported(cwd, altered, '--clean', 'clean');
    expect([status, stderr]).toEqual([1, expect.stringContaining('verdicts.jsonl does not have the hash')]);
  });
});

it('of a trial, what was not selected is not in the clean file', async () => {
  const cwd = await folderWith({ 'a.csv': 'text\none\ntwo\nthree\n' });
  const dir = await judgedRun(cwd, ['a.csv'], { flags: { limit: '2' } });
  const { status, result } = await exported(cwd, dir, '--clean', 'clean.csv');
  expect(status).toBe(0);
  expect([result!.rows, result!.by_reason]).toEqual([{ kept: 2, rejected: 1 }, { not_selected: 1 }]);
  expect(await readFile(join(cwd, 'clean.csv'), 'utf8')).toBe('text\none\ntwo\n');
});
