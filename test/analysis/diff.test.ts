import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffRuns, type DiffPair, type DiffResult } from '../../src/analysis/diff-runs.ts';
import type { FinishedVerdicts } from '../../src/analysis/finished-verdicts.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { jsonLines } from '../helpers/run-directory.ts';
import { outcomeLine } from '../record/outcome-line.ts';
import { typed } from '../cli/terminal.ts';
import { scoredRun, type Told } from '../report/export/judged-run.ts';
import { writeVerdicts } from './verdict-table.ts';
import { rounds } from '../helpers/corpus.ts';

const OLD: readonly Told[] = [
  { text: 'same', score: 0.1 },
  { text: 'rising', score: 0.2 },
  { text: 'falling', score: 0.9, scores: { hate: 0.9 }, flags: ['hate'] },
  { text: 'moving', score: 0.95, scores: { hate: 0.9 }, flags: ['hate'] },
  { text: 'broken', score: 0, isError: true },
  { text: 'breaking', score: 0.3 },
  { text: 'gone', score: 0.3 },
];
/** The same in another file and order. */
const NEW: readonly Told[] = [
  { text: 'fresh', score: 0.4 },
  { text: 'breaking', score: 0, isError: true },
  { text: 'broken', score: 0.2 },
  { text: 'moving', score: 0.94, scores: { privacy: 0.9 }, flags: ['privacy'] },
  { text: 'falling', score: 0.1 },
  { text: 'rising', score: 0.85, scores: { hate: 0.8 }, flags: ['hate'] },
  { text: 'same', score: 0.1 },
];

test('pairs items by content, wherever they are, and says how they differ', async () => {
  const folder = await temporaryFolder();
  const runs = [await scoredRun(folder, 'old.csv', OLD, 'a'), await scoredRun(folder, 'new.csv', NEW, 'b')];
  const args = ['diff', ...runs, '--out', 'differences.jsonl', '--json'];
  const done = await typed(args, { context: { cwd: folder } });
  expect(done).toMatchObject({ status: 0, stderr: '' });
  const result = JSON.parse(done.stdout) as DiffResult;
  expect(result).toMatchObject({
    a: { items: 7, only_here: 1, without_content: 0 },
    b: { items: 7, only_here: 1, without_content: 0 },
    pairs: 6,
    decisions: {
      allow: { allow: 1, review: 0, block: 1, error: 1 },
      review: { allow: 0, review: 0, block: 0, error: 0 },
      block: { allow: 1, review: 0, block: 1, error: 0 },
      error: { allow: 1, review: 0, block: 0, error: 0 },
    },
    score_shift: [{ score: 'score', pairs: 4, min: 0.1 - 0.9, max: 0.85 - 0.2 }],
  });
  const largest = result.largest.map(({ a, b }) => `${a.id} ${b.id}`);
  expect(largest).toEqual(['r2 r4', 'r1 r5', 'r4 r2', 'r5 r1', 'r3 r3']);
  const written = await jsonLines<DiffPair>(join(folder, 'differences.jsonl'));
  expect(written.map(({ a }) => a.id).sort()).toEqual(['r1', 'r2', 'r3', 'r4', 'r5']);
});

type Row = readonly [content: number, score: number, hate: number | null];

/** Items of a few contents with a few scores, so that many are equal. */
const items: fc.Arbitrary<Row[]> = fc.array(
  fc.tuple(fc.nat({ max: 5 }), fc.constantFrom(0, 0.25, 0.75, 1), fc.constantFrom(null, 0, 0.5)),
  { maxLength: 25 },
);

test('pairs as many items as can be, however they are spread, and a run does not differ from itself', async () => {
  const folder = await temporaryFolder();
  const runOf = async (name: string, rows: readonly Row[]): Promise<FinishedVerdicts> => {
    const dir = mkdtempSync(join(folder, name));
    const lines = rows.map(([content, score, hate], seq) => {
      const decision = score >= 0.5 ? 'block' : 'allow';
      const subcategory_scores = hate === null ? null : { hate };
      const content_sha256 = String(content).repeat(64);
      return outcomeLine({ seq, content_sha256, score, flagged: score >= 0.5, decision, subcategory_scores });
    });
    await writeVerdicts(dir, lines, DEFAULT_POLICY);
    return { dir, record: { run: name } } as FinishedVerdicts;
  };
  const options = { out: null, signal: new AbortController().signal };
  await fc.assert(
    fc.asyncProperty(items, items, async (rowsA, rowsB) => {
      const [a, b] = [await runOf('a', rowsA), await runOf('b', rowsB)];
      const times = (rows: readonly Row[], content: number): number =>
        rows.filter((row) => row[0] === content).length;
      const pairs = [0, 1, 2, 3, 4, 5]
        .map((content) => Math.min(times(rowsA, content), times(rowsB, content)))
        .reduce((sum, each) => sum + each);
      const result = await diffRuns(a, b, options);
      expect(result).toMatchObject({
        pairs,
        a: { items: rowsA.length, only_here: rowsA.length - pairs },
        b: { items: rowsB.length, only_here: rowsB.length - pairs },
      });
      const counts = Object.values(result.decisions).flatMap((row) => Object.values(row));
      expect(counts.reduce((sum, each) => sum + each)).toBe(pairs);
      const shifts = new Map(result.score_shift.map(({ score, pairs }) => [score, pairs]));
      expect([shifts.get('score') ?? 0, (shifts.get('hate') ?? 0) <= pairs]).toEqual([pairs, true]);

      const same = await diffRuns(a, a, options);
      expect([same.pairs, same.largest]).toEqual([rowsA.length, []]);
      const { allow, block } = same.decisions;
      expect(allow.allow + block.block).toBe(rowsA.length);
      const scored = rowsA.filter(([, , hate]) => hate !== null).length;
      expect(same.score_shift.find(({ score }) => score === 'hate')?.pairs ?? 0).toBe(scored);
    }),
    { numRuns: rounds(15) },
  );
});
