import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { DiffPair, DiffResult } from '../../src/analysis/diff-runs.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { typed } from '../cli/terminal.ts';
import { scoredRun, type Told } from '../report/scored-run.ts';

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

describe('diff', () => {
  let folder: string;
  let runs: [string, string];

  beforeEach(async () => {
    folder = await temporaryFolder();
    runs = [await scoredRun(folder, 'old.csv', OLD, 'a'), await scoredRun(folder, 'new.csv', NEW, 'b')];
  });

  async function diffed(...args: string[]): Promise<DiffResult> {
    const done = await typed(['diff', ...runs, ...args, '--json'], { context: { cwd: folder } });
    expect(done).toMatchObject({ status: 0, stderr: '' });
    return JSON.parse(done.stdout) as DiffResult;
  }

  test('pairs items by content, wherever they are, and says how they differ', async () => {
    const result = await diffed('--out', 'differences.jsonl');
    expect(result).toMatchObject({
      a: { items: 7, only_here: 1, without_content: 0 },
      b: { items: 7, only_here: 1, without_content: 0 },
      pairs: 6,
      results: {
        allow: { allow: 1, review: 0, block: 1, error: 1 },
        review: { allow: 0, review: 0, block: 0, error: 0 },
        block: { allow: 1, review: 0, block: 1, error: 0 },
        error: { allow: 1, review: 0, block: 0, error: 0 },
      },
      newly_flagged: 1,
      cleared: 1,
      category_moved: {
        pairs: 1,
        by_category: [
          { category: 'hate', gained: 0, lost: 1 },
          { category: 'privacy', gained: 1, lost: 0 },
        ],
      },
      errors: { error_to_verdict: 1, verdict_to_error: 1, other_code: 0 },
      score_shift: { pairs: 4, min: 0.1 - 0.9, max: 0.85 - 0.2 },
      by_fingerprint: [{ pairs: 4, newly_flagged: 1, cleared: 1 }],
    });
    const [models] = result.by_fingerprint;
    expect(models!.a).not.toBe(models!.b);
    expect(result.score_shift.quantiles).toMatchObject({ p01: -0.8, p50: -0.01, p99: 0.65 });
    expect(result.top_shifts.map(({ a, b }) => [a.id, b.id])).toEqual([
      ['r2', 'r4'],
      ['r1', 'r5'],
      ['r3', 'r3'],
    ]);
    const written = (await readFile(join(folder, 'differences.jsonl'), 'utf8')).trimEnd().split('\n');
    const found = written.map((text) => JSON.parse(text) as DiffPair);
    expect(found.map(({ a, differences }) => [a.id, ...differences]).sort()).toEqual([
      ['r1', 'newly_flagged', 'decision'],
      ['r2', 'cleared', 'decision'],
      ['r3', 'category_moved'],
      ['r4', 'error'],
      ['r5', 'error'],
    ]);
  });

  test('the text fits a screen, and leaves no temporary files', async () => {
    vi.stubEnv('TMPDIR', await temporaryFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stdout } = await typed(['diff', ...runs], { context: { cwd: folder } });
    expect(await readdir(tmpdir())).toEqual([]);
    expect(stdout).toContain('6 pairs of equal content:\n');
    expect(stdout).toContain('Flagged by the guard: 1 new, 1 cleared; 1 with other categories\n');
    expect(stdout).toContain('  -0.800  0.9 -> 0.1, block -> allow: r2 -> r4\n');
    const lines = stdout.split('\n');
    expect(lines.length).toBeLessThan(40);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(140);
  });

  test('a run does not differ from itself', async () => {
    runs = [runs[0], runs[0]];
    const result = await diffed();
    expect(result).toMatchObject({ pairs: 7, newly_flagged: 0, cleared: 0, top_shifts: [] });
    expect(result.score_shift).toMatchObject({ min: 0, max: 0 });
  });
});
