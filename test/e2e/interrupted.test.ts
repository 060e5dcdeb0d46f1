import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { comparable, killedAt, onlyRun, outcomes, progressed } from '../helpers/run-directory.ts';

const ROWS = 12_000;

async function tables() {
  const folder = await temporaryFolder();
  const corpus = join(folder, 'uploads');
  await mkdir(corpus);
  await writeComments(corpus, 'a.csv', ROWS / 2);
  await writeComments(corpus, 'b.csv', ROWS / 2, 1 + ROWS / 2);
  return { corpus, out: join(folder, 'runs') };
}

let judgedOnce: Promise<object[]> | null = null;

/** The outcomes of the tables with nothing in the way; they are the same ones in every test. */
const undisturbed = (): Promise<object[]> => (judgedOnce ??= judgeUndisturbed());

async function judgeUndisturbed(): Promise<object[]> {
  const { corpus: path, out } = await tables();
  const done = await guardsweep(['enqueue', path, '--out', out, '--quiet', '--no-report']);
  expect(done).toMatchObject({ status: 0 });
  return comparable(await outcomes(await onlyRun(out)));
}

describe('an embedded run that is interrupted', () => {
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
