import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, folderWith, guardsweep, printedRun, temporaryFolder } from '../helpers/cli.ts';
import { comparable, killedAt, outcomes, until } from '../helpers/run-directory.ts';

const HEADER = 'id,body\n';
const row = (at: number): string => `c-${at},${at % 7 === 0 ? 'I will kill you' : 'a fine day'} ${at}\n`;
const rows = (count: number): string => Array.from({ length: count }, (_, at) => row(at)).join('');

/** Starts `enqueue` and writes to its stdin. */
function enqueue(args: readonly string[], text: string): Cli {
  const cli = new Cli(['enqueue', '-', '--no-report', '--quiet', ...args], { stdin: 'pipe' });
  cli.child.stdin!.on('error', () => {}).write(text);
  return cli;
}

/** The outcomes but for the names of their files. */
async function judged(run: string): Promise<object[]> {
  const lines = comparable(await outcomes(run)) as { source: object }[];
  return lines.map((line) => ({ ...line, source: { ...line.source, path: null } }));
}

describe('enqueue -', () => {
  it('killed and resumed, judges the rows of stdin as those of a file, and keeps them until the run is purged', async () => {
    const text = HEADER + rows(6000);
    const folder = await folderWith({ 'rows.csv': text });
    const out = join(folder, 'runs');
    const cli = enqueue(['--out', out, '--text-column', 'body'], text);
    cli.child.stdin!.end();
    const run = await killedAt(cli, out, 2);
    expect(await guardsweep(['resume', run])).toMatchObject({ status: 0 });
    const same = await guardsweep(['enqueue', 'rows.csv', '--out', 'other', '--quiet'], { cwd: folder });
    expect(await judged(run)).toEqual(await judged(printedRun(same)));
    expect((await outcomes(run))[0]).toMatchObject({ id: 'c-0', source: { path: 'stdin' } });
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
    expect((await stat(join(run, 'stdin'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(run, 'stdin'), 'utf8')).toBe(text);
    expect(await guardsweep(['runs', 'purge', run])).toMatchObject({ status: 0 });
    expect(await readdir(run)).not.toContain('stdin');
  });

  it('interrupted while it reads, leaves no run', async () => {
    const out = join(await temporaryFolder(), 'runs');
    const cli = enqueue(['--out', out], HEADER);
    await until(async () => (await readdir(out).catch(() => [])).length > 0, 'a file for stdin');
    cli.kill('SIGINT');
    const { status, signal } = await cli.finished();
    expect({ status, signal }).toEqual({ status: 130, signal: null });
    expect(await readdir(out)).toEqual([]);
  });
});
