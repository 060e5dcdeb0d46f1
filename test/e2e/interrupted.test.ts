import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { random, seed, writeComments } from '../helpers/corpus.ts';
import { committedShards, comparable, onlyRun, outcomes, until } from '../helpers/run-directory.ts';

const ROWS = 12_000;

async function corpus(): Promise<{ corpus: string; out: string }> {
  const folder = await temporaryFolder();
  const corpus = join(folder, 'uploads');
  await mkdir(corpus);
  await writeComments(corpus, 'a.csv', ROWS / 2);
  await writeComments(corpus, 'b.csv', ROWS / 2, 1 + ROWS / 2);
  return { corpus, out: join(folder, 'runs') };
}

/** About as many items in a mailbox, and in tables in an archive in an archive. */
async function containers(): Promise<{ corpus: string; out: string }> {
  const { corpus: path, out } = await corpus();
  const folder = join(path, '..', 'containers');
  await mkdir(folder);
  const [a, b] = await Promise.all(['a.csv', 'b.csv'].map((name) => readFile(join(path, name))));
  const mails = a!
    .toString()
    .trimEnd()
    .split('\n')
    .slice(ROWS / 6);
  const box = mails.map(
    (text, index) => `From bo Mon May  4 09:00:00 2026\nSubject: ${index}\n\n${text}\n\n`,
  );
  await writeFile(join(folder, 'box.mbox'), box.join(''));
  await writeFile(
    join(folder, 'tables.zip'),
    zipSync({ 'inner.zip': zipSync({ 'a.csv': a!, 'b.csv': b! }) }),
  );
  return { corpus: folder, out };
}

let judgedOnce: Promise<object[]> | null = null;

/** The outcomes of the corpus with nothing in the way; it is the same one in every test. */
async function undisturbed(): Promise<object[]> {
  return (judgedOnce ??= judgeUndisturbed(corpus));
}

async function judgeUndisturbed(make: typeof corpus): Promise<object[]> {
  const { corpus: path, out } = await make();
  const done = await guardsweep(['enqueue', path, '--out', out, '--quiet', '--no-report']);
  expect(done).toMatchObject({ status: 0 });
  return comparable(await outcomes(await onlyRun(out)));
}

/** Resolves when the run has committed at least so many shards, or its process is gone. */
async function progressed(cli: Cli, out: string, shards: number): Promise<string> {
  return until(async () => {
    const run = await onlyRun(out);
    return (cli.child.exitCode !== null || (await committedShards(run)) >= shards) && run;
  }, `${shards} committed shards`);
}

describe('an embedded run that is interrupted', () => {
  it.each([
    ['tables', corpus, undisturbed],
    ['files that hold others', containers, () => judgeUndisturbed(containers)],
  ])(
    'over %s, killed at five random moments and resumed, ends as an undisturbed run',
    { timeout: 120_000 },
    async (_, make, judged) => {
      const next = random(seed());
      const { corpus: path, out } = await make();
      let cli = new Cli(['enqueue', path, '--out', out, '--quiet']);
      let run = '';
      for (let death = 0; death < 5; death++) {
        const already = run === '' ? 0 : await committedShards(run);
        run = await progressed(cli, out, already + Math.floor(next() * 8));
        await new Promise((resolve) => setTimeout(resolve, next() * 20));
        cli.kill('SIGKILL');
        await cli.finished();
        if (death < 4) cli = new Cli(['resume', run, '--quiet']);
      }
      const done = await guardsweep(['resume', run]);
      expect(done.stderr).not.toContain('Error');
      expect(done.status).toBe(0);
      expect(comparable(await outcomes(run))).toEqual(await judged());
      expect(await verifyRun(run, {})).toMatchObject({ ok: true });
    },
  );

  it('resumed by two processes at once, loses nothing and doubles nothing', async () => {
    const { corpus: path, out } = await corpus();
    const first = new Cli(['enqueue', path, '--out', out, '--quiet']);
    const run = await progressed(first, out, 3);
    first.kill('SIGKILL');
    await first.finished();
    const both = await Promise.all([guardsweep(['resume', run]), guardsweep(['resume', run])]);
    const statuses = both.map(({ status }) => status).sort();
    // Whichever claims the log last finishes the run; the other says so and stops, or finds the run finished.
    expect(statuses[0]).toBe(0);
    expect([0, 1]).toContain(statuses[1]);
    expect(comparable(await outcomes(run))).toEqual(await undisturbed());
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  });

  it('whose writer was paused while another took over, finishes once', async () => {
    const { corpus: path, out } = await corpus();
    const paused = new Cli(['enqueue', path, '--out', out, '--quiet']);
    const run = await progressed(paused, out, 3);
    paused.kill('SIGSTOP');
    expect(await guardsweep(['resume', run])).toMatchObject({ status: 0 });
    paused.kill('SIGCONT');
    const woken = await paused.finished();
    expect(woken.status).toBe(1);
    expect(woken.stderr).toMatch(/another process/);
    expect(comparable(await outcomes(run))).toEqual(await undisturbed());
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  });

  it('with Ctrl-C drains, prints how to resume, and ends with 130', async () => {
    const { corpus: path, out } = await corpus();
    const cli = new Cli(['enqueue', path, '--out', out]);
    const run = await progressed(cli, out, 3);
    cli.kill('SIGINT');
    const stopped = await cli.finished();
    expect(stopped.status).toBe(130);
    expect(stopped.stderr).toContain(`resume ${run}`);
    expect(await readdir(run)).not.toContain('manifest.json');
    expect(await guardsweep(['resume', run])).toMatchObject({ status: 0 });
    expect(comparable(await outcomes(run))).toEqual(await undisturbed());
  });
});
