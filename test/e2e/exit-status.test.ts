import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommands } from '../../src/cli/run/run-commands.ts';
import { typed } from '../cli/terminal.ts';
import { folderWith, guardsweep, printedRun } from '../helpers/cli.ts';
import { onlyRun } from '../helpers/run-directory.ts';

const QUICK = ['--no-report', '--canaries', 'off'];

describe('exit status', () => {
  it('0: everything judged; the last line of stdout is the run directory', async () => {
    const cwd = await folderWith({ 'a.csv': 'text\nhello there\n' });
    const done = await guardsweep(['enqueue', 'a.csv'], { cwd });
    expect(done.status).toBe(0);
    expect(printedRun(done)).toBe(await onlyRun(join(cwd, 'runs')));
    const again = await guardsweep(['resume', printedRun(done)], { cwd });
    expect([again.status, again.stderr]).toEqual([0, expect.stringMatching(/finished/)]);
  });

  it('0, 5 and --allow-errors: items that could not be judged', async () => {
    const cwd = await folderWith({ 'a.csv': 'text,n\nhello,1\nshort\n' });
    const enqueue = ['enqueue', 'a.csv', ...QUICK];
    expect((await guardsweep(enqueue, { cwd })).status).toBe(5);
    expect((await guardsweep([...enqueue, '--allow-errors'], { cwd })).status).toBe(0);
  });

  it('5: what a folder lacks is one command to copy, which judges the rest', async () => {
    const rows = ['Grüße aus Köln', 'Ein schöner Tag für uns alle', 'Das war wirklich übertrieben'];
    const cwd = await folderWith({
      'uploads/a.csv': Buffer.from(`text\n${rows.join('\n')}\n`, 'latin1'),
      'uploads/b.csv': 'id,when\n1,2024-01-02\n2,2024-01-03\n3,2024-01-04\n',
    });
    const first = await guardsweep(['enqueue', 'uploads'], { cwd });
    expect(first.status).toBe(5);
    expect(first.stdout).toMatch(/^To judge more \(NAME: the column with the text; .*\):$/m);
    const command = /^ {2}guardsweep (enqueue .*)$/m.exec(first.stdout)![1]!;
    expect(command).toBe('enqueue uploads --encoding windows-1252 --text-column NAME');
    const more = await guardsweep(command.replace('NAME', 'id').split(' '), { cwd });
    expect([more.status, more.stdout]).toEqual([0, expect.stringContaining('Judged 6 of 6 items')]);
  });

  const latin = Buffer.from('text\ncaf\xe9\n\xe0 la carte\n'.repeat(50), 'latin1');
  it.each<[command: string, says: RegExp]>([
    ['enqueue a.csv --text-column body', /body/],
    ['enqueue latin.csv', /--encoding/],
    ['enqueue gate.yaml', /gate\.yaml:2.*failIf.*--guard/],
    ['enqueue job.yaml', /job\.yaml:2.*sources/],
    ['resume a.csv', /not a run directory/],
  ])('2, in one line, with nothing written: %s', async (command, says) => {
    const cwd = await folderWith({
      'a.csv': 'text\nhello\n',
      'latin.csv': latin,
      'job.yaml': 'name: x\nsource:\n  - path: a.csv\n',
      'gate.yaml': 'sources: [{ path: a.csv }]\nfailIf: { flaggedRate: 0.1 }\n',
    });
    const done = await typed(command.split(' '), { runs: runCommands, context: { cwd } });
    expect([done.status, done.stderr]).toEqual([2, expect.stringMatching(says)]);
    expect(done.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(await readdir(cwd)).not.toContain('runs');
  });

  it('5 and --allow-empty: no item at all, whatever the gate', async () => {
    const cwd = await folderWith({ 'header.csv': 'id,text\n', 'list.json': '[]', 'b.jsonl': '' });
    const gate = ['--guard', 'embedded:', '--fail-if', 'flagged-rate=0.1', '--out', 'runs', ...QUICK];
    const done = await guardsweep(['enqueue', cwd, ...gate], { cwd });
    expect(done.status).toBe(5);
    expect(done.stdout).toMatch(/^Judged 0 of 0 items; 0 not judged\nEMPTY: /);
    const run = await onlyRun(join(cwd, 'runs'));
    expect((await guardsweep(['verify', run])).status).toBe(0);
    expect((await guardsweep(['resume', run])).status).toBe(5);
    expect((await guardsweep(['enqueue', cwd, ...gate, '--allow-empty'], { cwd })).status).toBe(0);
  });

  it('3: the gate of a category trips, said in few words although nothing else is', async () => {
    const cwd = await folderWith({ 'a.csv': 'text\nhello there\nhow do I kill someone and hide the body\n' });
    const gate = ['--guard', 'embedded:', '--fail-if', 'violent_crimes=0.1', '--fail-if', 'error-rate=0'];
    const done = await guardsweep(['enqueue', 'a.csv', ...gate, '--json', '--quiet', ...QUICK], { cwd });
    expect(done).toMatchObject({
      status: 3,
      stderr: 'guardsweep: gate category violent_crimes tripped: 0.5 is above 0.1 (1 of 2 verdicts)\n',
    });
    const { gates, dir } = JSON.parse(done.stdout) as { gates: unknown; dir: string };
    expect(gates).toEqual([
      { gate: 'violent_crimes', limit: 0.1, value: 0.5, part: 1, unknown: 0, whole: 2, tripped: true },
      { gate: 'errorRate', limit: 0, value: 0, part: 0, unknown: 0, whole: 2, tripped: false },
    ]);
    expect((await guardsweep(['resume', dir], { cwd })).status).toBe(3);
  });

  // What a command waits for at its start: --start-wait before --max-wait or a job file's maxWait.
  it.each<[command: string, maxWait: string, says: RegExp]>([
    ['sink --redis redis://127.0.0.1:1 --start-wait 1s', '1s', /1 s/],
    ['worker --redis redis://127.0.0.1:1 --guard embedded: --max-wait 1s', '1s', /1 s/],
    ['enqueue job.yaml', '1s', /no guard became usable within 1 s: grpc:\S+: no connection$/m],
    ['enqueue job.yaml --guard embedded: --redis redis://127.0.0.1:1', '1s', /does not answer within 1 s/],
    ['enqueue job.yaml --start-wait 1s', '2h', /no guard became usable within 1 s/],
  ])('4, with nothing written: what %s needs is not there (maxWait: %s)', async (command, maxWait, says) => {
    const job = `sources: [{ path: a.csv }]\nguard: 'grpc://127.0.0.1:1'\nmaxWait: ${maxWait}\n`;
    const cwd = await folderWith({ 'a.csv': 'text\nhello\n', 'job.yaml': job });
    const { status, stderr } = await guardsweep(command.split(' '), { cwd });
    expect([status, stderr]).toEqual([4, expect.stringMatching(says)]);
    expect(await readdir(cwd)).not.toContain('runs');
  });
});
