import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { Cli, type Finished, guardsweep, temporaryFolder } from '../../helpers/cli.ts';
import { random } from '../../helpers/corpus.ts';
import { comparable, onlyRun, outcomes } from '../../helpers/run-directory.ts';
import { differences, seeds } from '../seeded.ts';
import { writeCorpus } from './corpus.ts';

const PRELOAD = fileURLToPath(new URL('../preload/die-at-operation.mjs', import.meta.url));
const CORPUS_SEED = 7;
const LIVES = 8;
/** Deaths by the clock strike within this time of a start: it includes loading the program. */
const MAX_LIFE_MS = 3000;

interface Undisturbed {
  readonly lines: readonly object[];
  /** Operations that change the disk. */
  readonly operations: number;
}

let judgedOnce: Promise<Undisturbed> | null = null;

async function judgeUndisturbed(corpus: string): Promise<Undisturbed> {
  const folder = await temporaryFolder();
  const counted = join(folder, 'operations');
  const done = await guardsweep(['enqueue', corpus, '--out', join(folder, 'runs'), '--quiet'], {
    env: { NODE_OPTIONS: `--import ${PRELOAD}`, DIE_COUNT: counted },
  });
  expect(done).toMatchObject({ status: 5, stderr: '' });
  return {
    lines: comparable(await outcomes(await onlyRun(join(folder, 'runs')))),
    operations: Number(await readFile(counted, 'utf8')),
  };
}

it.each(seeds())(
  'a run killed again and again ends as an undisturbed one, KILLS of FAULTS_SEED=%i',
  async (seed) => {
    console.log(`kills of FAULTS_SEED=${seed}`);
    const next = random(seed);
    const folder = await temporaryFolder();
    const corpus = join(folder, 'uploads');
    await writeCorpus(corpus, CORPUS_SEED);
    const expected = await (judgedOnce ??= judgeUndisturbed(corpus));
    const out = join(folder, 'runs');

    /** Lets the run live once, with a death ahead of it. */
    const live = async (): Promise<Finished> => {
      const run = await onlyRun(out).catch(() => null);
      const args = run === null ? ['enqueue', corpus, '--out', out] : ['resume', run];
      if (next() < 0.25) {
        const cli = new Cli([...args, '--quiet']);
        await Promise.race([delay(next() * MAX_LIFE_MS), cli.finished()]);
        cli.kill('SIGKILL');
        return cli.finished();
      }
      const how = (['before', 'torn', 'after'] as const)[Math.floor(next() * 3)]!;
      // The first operations, which begin an epoch, are as likely to be struck as the many that follow.
      const at =
        next() < 0.5 ? 1 + Math.floor(next() * 30) : 1 + Math.floor((next() * expected.operations) / 3);
      return guardsweep([...args, '--quiet'], {
        env: { NODE_OPTIONS: `--import ${PRELOAD}`, DIE_AT: String(at), DIE_HOW: how },
      });
    };

    for (let life = 0; life < LIVES; life++) {
      const { status, signal, stderr } = await live();
      expect({ life, status, signal, stderr }).toEqual(
        signal === 'SIGKILL'
          ? { life, status: null, signal, stderr: expect.any(String) as string }
          : { life, status: 5, signal: null, stderr: '' },
      );
    }
    const run = await onlyRun(out).catch(() => null);
    const done = await guardsweep(run === null ? ['enqueue', corpus, '--out', out] : ['resume', run]);
    expect({ status: done.status, stderr: done.stderr }).toEqual({
      status: 5,
      stderr: expect.not.stringMatching(/unexpected|Error/) as string,
    });
    const dir = await onlyRun(out);
    expect(differences(comparable(await outcomes(dir)), expected.lines)).toEqual([]);
    expect(await verifyRun(dir, {})).toMatchObject({ ok: true, items: expected.lines.length });
  },
);
