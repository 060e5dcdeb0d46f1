import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { openRun } from '../../../src/runs/open-run.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { random } from '../../helpers/corpus.ts';
import { outcomes } from '../../helpers/run-directory.ts';
import { createdRun, go, judge, never, rows } from '../../runs/small-run.ts';
import { seeds } from '../seeded.ts';
import { damageOne, type Damage } from './damage.ts';

const DAMAGES = Number(process.env.FAULTS_DAMAGES ?? 60);
const ROWS = 120;

/** A run over three epochs that is not finished. */
async function interruptedRun(folder: string): Promise<string> {
  const uploads = join(folder, 'uploads');
  await mkdir(uploads);
  await writeFile(join(uploads, 'a.csv'), rows('a', 0, ROWS / 2));
  await writeFile(join(uploads, 'b.csv'), rows('b', ROWS / 2, ROWS / 2));
  const run = await createdRun(folder);
  for (const answers of [40, 30, 20]) {
    await expect(go(run, judge({ answers }))).rejects.toMatchObject({ kind: 'service' });
  }
  return run.dir;
}

/** How many outcomes were acknowledged: commits whose lines are whole, by the files alone. */
async function acknowledgedItems(runDir: string): Promise<number> {
  const shards = new Map<number, number>();
  for (const name of await readdir(join(runDir, 'log'))) {
    if (!name.endsWith('-commits.jsonl')) continue;
    for (const line of (await readFile(join(runDir, 'log', name), 'utf8')).split('\n')) {
      const value = line === '' ? {} : (JSON.parse(line) as { shard?: number; tally?: { items: number } });
      if (value.shard !== undefined) shards.set(value.shard, value.tally!.items);
    }
  }
  return [...shards.values()].reduce((sum, items) => sum + items, 0);
}

/** Whether no line that was complete begins at the offset or later. */
function isLastLine(bytes: Buffer, offset: number): boolean {
  const end = bytes.indexOf('\n', Math.max(0, offset - 1));
  return end < 0 || end >= bytes.length - 1;
}

/** Whether a crash can have left the file so: nothing sound stands behind what is broken. */
async function isTornTail(sound: string, { kind, file, at, to }: Damage): Promise<boolean> {
  if (kind === 'cut' || kind === 'garbage') return true;
  const bytes = await readFile(join(sound, file));
  if (file === 'plan.jsonl' || file.endsWith('-commits.jsonl')) return isLastLine(bytes, to);
  // Of a segment: what the last commit of the newest epoch covers.
  const names = (await readdir(join(sound, 'log'))).filter((name) => name.endsWith('-commits.jsonl')).sort();
  const last = (await readFile(join(sound, 'log', names.at(-1)!), 'utf8')).trimEnd().split('\n').at(-1)!;
  const { segment, offset } = JSON.parse(last) as { segment?: string; offset?: number };
  return segment !== undefined && `log/${segment}` === file && at >= offset!;
}

it.each(seeds())(
  'a damaged run is continued to its end or refused in words, never in silence, FAULTS_SEED=%i',
  async (seed) => {
    console.log(`damages of FAULTS_SEED=${seed}`);
    const next = random(seed);
    const folder = await temporaryFolder();
    const sound = await interruptedRun(folder);
    const acknowledged = await acknowledgedItems(sound);
    expect(acknowledged).toBeGreaterThan(ROWS / 3);

    for (let index = 0; index < DAMAGES; index++) {
      const dir = join(folder, 'damaged', basename(sound));
      await rm(dir, { recursive: true, force: true });
      await cp(sound, dir, { recursive: true });
      const damage = await damageOne(dir, next);
      const what = JSON.stringify(damage);
      let lines: OutcomeLine[];
      try {
        const { summary } = await go(await openRun(dir, never), judge({ model: 'b' }));
        expect({ what, status: summary.status }).toEqual({ what, status: 'finished' });
        lines = await outcomes(dir);
      } catch (error) {
        if (!(error instanceof Failure))
          throw new Error(`${what} ended in an unexpected error`, { cause: error });
        expect({ what, says: error.message }).toEqual({
          what,
          says: expect.stringMatching(/log|plan\.jsonl/) as string,
        });
        continue;
      }
      expect({ what, seqs: lines.map(({ seq }) => seq) }).toEqual({ what, seqs: [...Array(ROWS).keys()] });
      expect({ what, report: await verifyRun(dir, {}) }).toMatchObject({
        what,
        report: { ok: true, verdicts: ROWS },
      });
      const models = new Map<string | null, number>();
      for (const { fingerprint } of lines) models.set(fingerprint, (models.get(fingerprint) ?? 0) + 1);
      const kept = Math.max(0, ROWS - (models.get(lines.at(-1)!.fingerprint) ?? 0));
      if (kept === acknowledged) continue;
      expect({ what, torn: await isTornTail(sound, damage) }).toEqual({ what, torn: true });
    }
  },
);
