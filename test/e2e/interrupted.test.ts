import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, temporaryFolder, writeFiles } from '../helpers/cli.ts';
import { random, seed, writeComments } from '../helpers/corpus.ts';
import {
  committedShards,
  comparable,
  killedAt,
  onlyRun,
  outcomes,
  progressed,
} from '../helpers/run-directory.ts';

const ROWS = 12_000;

async function tables() {
  const folder = await temporaryFolder();
  const corpus = join(folder, 'uploads');
  await mkdir(corpus);
  await writeComments(corpus, 'a.csv', ROWS / 2);
  await writeComments(corpus, 'b.csv', ROWS / 2, 1 + ROWS / 2);
  return { corpus, out: join(folder, 'runs') };
}

/** About as many items in a mailbox, and in tables in an archive in an archive. */
async function containers() {
  const { corpus: path, out } = await tables();
  const [a, b] = await Promise.all(['a.csv', 'b.csv'].map((name) => readFile(join(path, name))));
  const texts = a!.toString().trimEnd().split('\n');
  const mails = texts
    .slice(ROWS / 6)
    .map((text, index) => `From bo Mon May  4 09:00:00 2026\nSubject: ${index}\n\n${text}\n\n`);
  const inner = zipSync({ 'a.csv': a!, 'b.csv': b! });
  const corpus = join(path, '..', 'containers');
  const packed = Buffer.from(zipSync({ 'inner.zip': inner }));
  await writeFiles(corpus, { 'box.mbox': mails.join(''), 'tables.zip': packed });
  return { corpus, out };
}

let judgedOnce: Promise<object[]> | null = null;

/** The outcomes of the tables with nothing in the way; they are the same ones in every test. */
const undisturbed = (): Promise<object[]> => (judgedOnce ??= judgeUndisturbed(tables));

async function judgeUndisturbed(make: typeof tables): Promise<object[]> {
  const { corpus: path, out } = await make();
  const done = await guardsweep(['enqueue', path, '--out', out, '--quiet', '--no-report']);
  expect(done).toMatchObject({ status: 0 });
  return comparable(await outcomes(await onlyRun(out)));
}

describe('an embedded run that is interrupted', () => {
  it('killed at five random moments and resumed, ends as an undisturbed run over files that hold others', async () => {
    const next = random(seed());
    const { corpus: path, out } = await containers();
    let cli = new Cli(['enqueue', path, '--out', out, '--quiet']);
    let run = '';
    for (let death = 0; death < 5; death++) {
      const already = run === '' ? 0 : await committedShards(run);
      run = await progressed(cli, out, already + Math.floor(next() * 8));
      await delay(next() * 20);
      cli.kill('SIGKILL');
      await cli.finished();
      if (death < 4) cli = new Cli(['resume', run, '--quiet']);
    }
    const done = await guardsweep(['resume', run]);
    expect(done.stderr).not.toContain('Error');
    expect(done.status).toBe(0);
    expect(comparable(await outcomes(run))).toEqual(await judgeUndisturbed(containers));
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  });

  it('resumed by two processes at once, loses nothing and doubles nothing', async () => {
    const { corpus: path, out } = await tables();
    const first = new Cli(['enqueue', path, '--out', out, '--quiet']);
    const run = await killedAt(first, out, 3);
    const both = await Promise.all([guardsweep(['resume', run]), guardsweep(['resume', run])]);
    const statuses = both.map(({ status }) => status).sort();
    // Whichever claims the log last finishes the run; the other says so and stops, or finds the run finished.
    expect(statuses[0]).toBe(0);
    expect([0, 1]).toContain(statuses[1]);
    expect(comparable(await outcomes(run))).toEqual(await undisturbed());
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  });

  it('whose writer was paused while another took over, finishes once', async () => {
    const { corpus: path, out } = await tables();
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
    const { corpus: path, out } = await tables();
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
