import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Run } from '../../src/runs/create-run.ts';
import { finishedSummary } from '../../src/record/summary/finished-summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith } from '../helpers/cli.ts';
import { rounds, seed } from '../helpers/corpus.ts';
import { jsonLines, outcomes } from '../helpers/run-directory.ts';
import { createdRun, go, judge, rows } from './small-run.ts';

const SEED = seed();

/** Every line of the files of the log with such names. */
async function linesOf<T>(run: Run, names: RegExp): Promise<T[]> {
  const log = join(run.dir, 'log');
  const files = (await readdir(log)).filter((name) => names.test(name));
  return (await Promise.all(files.map((name) => jsonLines<T>(join(log, name))))).flat();
}

/**
 * Takes the end off the plan, as if the process had been killed before it was written. What a committed shard was planned
 * or fed with was on disk before.
 */
async function cutPlan(run: Run, ahead: number): Promise<void> {
  const path = join(run.dir, 'plan.jsonl');
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  const commits = await linesOf<{ shard?: number }>(run, /-commits\.jsonl$/);
  const committed = new Set(commits.map(({ shard }) => shard ?? null));
  const shards = lines.map((line) => {
    const { shard, changed } = JSON.parse(line) as { shard?: number; changed?: number };
    return shard ?? changed;
  });
  const least = shards.findLastIndex((shard) => shard !== undefined && committed.has(shard));
  const opened = lines.findLastIndex((line) => line.includes('"opened"'));
  const last = Math.max(opened, least);
  await writeFile(path, `${lines.slice(0, last + 1 + ahead).join('\n')}\n`);
}

/** A corpus of tables, of which some have no rows, and of whole files, in the order of their names. */
const source = fc.oneof(
  fc.record({ kind: fc.constant('csv' as const), rows: fc.constantFrom(0, 0, 1, 12, 35) }),
  fc.record({ kind: fc.constant('jsonl' as const), rows: fc.constantFrom(1, 5, 25) }),
  fc.record({ kind: fc.constantFrom('txt' as const, 'odd' as const), rows: fc.constant(1) }),
);

const step = fc.record({
  answers: fc.integer({ min: 0, max: 60 }),
  changed: fc.array(fc.nat(), { maxLength: 3 }),
  /** How many of the planned shards behind the last committed one have reached the disk. */
  plannedAhead: fc.integer({ min: 0, max: 6 }),
  how: fc.constantFrom('append' as const, 'delete' as const),
});

const corpora = fc.array(source, { minLength: 1, maxLength: 14 });
const lives = fc.array(step, { minLength: 1, maxLength: 3 });
const limited = { limit: 30, sample: null, seed: null };
const trials = fc.constantFrom(null, limited, { limit: null, sample: 0.5, seed: 3 });

type Generated<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

/** A shard is committed that was fed with changed items, before any item is judged. */
const FED_STEP = { answers: 0, plannedAhead: 2, how: 'append' } as const;
const FED_SOURCES: Generated<typeof source>[] = [
  { kind: 'jsonl', rows: 1 },
  { kind: 'csv', rows: 35 },
];
const FED_STEPS = [
  { ...FED_STEP, changed: [0] },
  { ...FED_STEP, changed: [], plannedAhead: 0 },
];

/** Every third record is a text, the others are conversations. */
const records = (index: number, count: number): string =>
  Array.from({ length: count }, (_, row) => {
    const content = `${index} ${row}`;
    const record = row % 3 === 0 ? { text: content } : { messages: [{ role: 'user', content }] };
    return `${JSON.stringify(record)}\n`;
  }).join('');

it('a run that is resumed over changed files comes to its end, and judges nothing again that is committed, wherever it stopped and whatever changed', async () => {
  await fc.assert(
    fc.asyncProperty(corpora, lives, trials, async (sources, steps, trial) => {
      const files = sources.map(({ kind, rows: count }, index): [string, string | Buffer] => {
        const zip = Buffer.from('504b0304140000000800', 'hex');
        const csv = rows(`s${index}-`, 0, count);
        const content = { txt: `file ${index}`, odd: zip, csv, jsonl: records(index, count) }[kind];
        const extension = kind === 'odd' ? 'zip' : kind;
        return [`uploads/${String(index).padStart(2, '0')}.${extension}`, content];
      });
      const folder = await folderWith(Object.fromEntries(files));
      const paths = files.map(([name]) => join(folder, name));
      const run = await createdRun(folder, trial);
      const kept = new Map<number, string>();
      const keep = async (): Promise<void> => {
        for (const line of await linesOf<OutcomeLine>(run, /-\d{6}\.jsonl$/)) {
          const text = JSON.stringify(line);
          expect(kept.get(line.seq) ?? text).toBe(text);
          kept.set(line.seq, text);
        }
      };
      for (const { answers, changed, how, plannedAhead } of steps) {
        await go(run, judge({ answers })).catch(() => undefined);
        await keep();
        if ((await finishedSummary(run.dir)) === null) await cutPlan(run, plannedAhead);
        for (const index of changed) {
          const path = paths[index % paths.length]!;
          if (how === 'delete') await rm(path, { force: true });
          else await appendFile(path, 'late,one more\n');
        }
      }
      const { summary } = await go(run, judge());
      expect(summary.status).toBe('finished');
      await keep();
      const lines = await outcomes(run.dir);
      expect(lines.map((line) => JSON.stringify(line))).toEqual(lines.map(({ seq }) => kept.get(seq)));
      expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
    }),
    { seed: SEED, numRuns: rounds(25), examples: [[FED_SOURCES, FED_STEPS, null]] },
  );
});
