import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { itemError } from '../../src/domain/item-error.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { diffRuns, type DiffResult } from '../../src/analysis/diff-runs.ts';
import type { FinishedVerdicts } from '../../src/analysis/finished-verdicts.ts';
import { outcomeLine } from '../record/outcome-line.ts';
import { writeVerdictTable } from './verdict-table.ts';

const signal = new AbortController().signal;

type Told = readonly [content: number, score: number | null];

/** Items of a few contents with a few scores, so that many are equal; null: an error. */
const items: fc.Arbitrary<Told[]> = fc.array(
  fc.tuple(fc.nat({ max: 5 }), fc.constantFrom(null, 0, 0.25, 0.75, 1)),
  { maxLength: 25 },
);

const decisionOf = (score: number | null) => (score === null ? 'error' : score >= 0.5 ? 'block' : 'allow');

function line(seq: number, [content, score]: Told): OutcomeLine {
  const sha = String(content).repeat(64);
  if (score === null) {
    const { code, message } = itemError('TIMEOUT', 'late');
    return {
      ...outcomeLine({ seq }),
      ...{
        content_sha256: sha,
        status: 'error',
        score: null,
        flagged: null,
        decision: null,
        decided_by: null,
      },
      ...{ subcategory_scores: null, subcategory_flags: null, coverage: null, fingerprint: null },
      error: { code, message, retryable: true },
    };
  }
  const decision = decisionOf(score) as 'allow' | 'block';
  return { ...outcomeLine({ seq }), content_sha256: sha, score, flagged: score >= 0.5, decision };
}

/** The most pairs that have the same outcome, and of the rest the most that have the same decision, by counting. */
function model(a: readonly Told[], b: readonly Told[]): { pairs: number; same: number; alike: number } {
  const count = (all: readonly Told[], of: (told: Told) => string): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const told of all) counts.set(of(told), (counts.get(of(told)) ?? 0) + 1);
    return counts;
  };
  const shared = (of: (told: Told) => string): number => {
    const others = count(b, of);
    return [...count(a, of)].reduce((sum, [key, times]) => sum + Math.min(times, others.get(key) ?? 0), 0);
  };
  return {
    pairs: shared(([content]) => String(content)),
    same: shared(([content, score]) => `${content} ${score}`),
    alike: shared(([content, score]) => `${content} ${decisionOf(score)}`),
  };
}

test('pairs as many items as can be, those with equal outcomes first, however they are spread', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guardsweep-diff-model-'));
  const runOf = async (name: string, all: readonly Told[]): Promise<FinishedVerdicts> => {
    const dir = mkdtempSync(join(folder, name));
    const text = all.map((told, seq) => `${JSON.stringify(line(seq, told))}\n`).join('');
    writeFileSync(join(dir, 'verdicts.jsonl'), text);
    await writeVerdictTable(dir, { thresholds: null, allowFlagged: false, allowPartial: false });
    return { dir, record: { run: name } } as FinishedVerdicts;
  };
  try {
    await fc.assert(
      fc.asyncProperty(items, items, async (a, b) => {
        const result: DiffResult = await diffRuns(await runOf('a', a), await runOf('b', b), {
          out: null,
          signal,
        });
        const { pairs, same, alike } = model(a, b);
        expect(result.pairs).toBe(pairs);
        expect(result.a).toMatchObject({ items: a.length, only_here: a.length - pairs });
        expect(result.b).toMatchObject({ items: b.length, only_here: b.length - pairs });
        const cells = Object.entries(result.results).flatMap(([from, row]) =>
          Object.entries(row).map(([to, times]) => [from === to, times] as const),
        );
        const sum = (of: readonly (readonly [boolean, number])[]) => of.reduce((all, [, n]) => all + n, 0);
        expect(sum(cells)).toBe(pairs);
        expect(sum(cells.filter(([isSame]) => isSame))).toBe(alike);
        const { histogram, pairs: shifted } = result.score_shift;
        expect(histogram.reduce((all, bin) => all + bin.pairs, 0)).toBe(shifted);
        const unmoved = result.results.error.error + (histogram[5]?.pairs ?? 0);
        expect(unmoved).toBeGreaterThanOrEqual(same);
        expect(result.newly_flagged).toBe(result.results.allow.block);
        expect(result.cleared).toBe(result.results.block.allow);
        expect(result.by_fingerprint.reduce((all, each) => all + each.pairs, 0)).toBe(shifted);
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
