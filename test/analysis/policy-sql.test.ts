import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FinishedVerdicts } from '../../src/analysis/finished-verdicts.ts';
import { LineFile } from '../../src/analysis/line-file.ts';
import { replay, type ChangedItem } from '../../src/analysis/replay.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { decide, withThresholds, type Policy } from '../../src/domain/policy.ts';
import type { CategoryKey, CategoryName } from '../../src/domain/taxonomy.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { writeVerdictTable } from './verdict-table.ts';
import { outcomeLine } from '../record/outcome-line.ts';
import { rounds } from '../helpers/rounds.ts';

const signal = new AbortController().signal;
const CATEGORIES: readonly CategoryName[] = [
  'violent_crimes',
  'child_sexual_exploitation',
  'hate',
  'cybersecurity',
  'openai/hate',
  'openai/sexual/minors',
];

/** Scores that often equal a threshold, and the neighbours of such scores. */
const score = fc.oneof(
  fc.constantFrom(0, 0.07, 0.29, 0.3, 0.5, 0.57, 0.8, 1, 0.1 + 0.2, 1e-7),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

const level = fc.option(fc.constantFrom(0.07, 0.29, 0.3, 0.1 + 0.2, 0.5, 0.8, 1));
const levels = fc.option(fc.record({ review: level, block: level }), { nil: undefined });

const policies: fc.Arbitrary<Policy> = fc
  .record({
    edited: fc.record({
      ...{ default: levels, violent_crimes: levels, hate: levels, cybersecurity: levels },
      ...{ 'openai/hate': levels, 'openai/sexual/minors': levels, 'shieldgemma/hate': levels },
    }),
    allowFlagged: fc.boolean(),
    allowPartial: fc.boolean(),
    taxonomy: fc.option(
      fc.dictionary(
        fc.constantFrom('openai/hate', 'openai/sexual/minors', 'qwen3guard/pii', 'novel', "it's odd"),
        fc.constantFrom<CategoryKey>('hate', 'violent_crimes', 'child_sexual_exploitation'),
      ),
      { nil: undefined },
    ),
  })
  .map(({ edited, ...flags }) => withThresholds({ thresholds: null, ...flags }, edited));

const judged = fc.record({
  score,
  flagged: fc.boolean(),
  subcategory_scores: fc.option(fc.dictionary(fc.constantFrom(...CATEGORIES), score, { maxKeys: 6 })),
  subcategory_flags: fc.option(
    fc.uniqueArray(fc.constantFrom<string>(...CATEGORIES, 'novel', "it's odd", 'qwen3guard/pii'), {
      maxLength: 4,
    }),
  ),
  coverage: fc.constantFrom(
    null,
    { unit: 'chars', judged: 5, total: 5 },
    { unit: 'chars', judged: 4, total: 5 },
  ),
  caution: fc.option(fc.nat()),
  decision: fc.constantFrom('allow', 'review', 'block'),
});

function lineOf(
  { caution, coverage, ...told }: typeof judged extends fc.Arbitrary<infer T> ? T : never,
  seq: number,
) {
  const stream = caution === null ? {} : { stream: { first_caution_seq: caution } };
  const covered = coverage && { ...coverage, worst_at: null };
  return { ...outcomeLine({ seq }), ...told, coverage: covered, decided_by: null, ...stream } as OutcomeLine;
}

const scoredOf = (line: OutcomeLine) => ({
  score: line.score!,
  flagged: line.flagged!,
  subcategoryScores: line.subcategory_scores,
  subcategoryFlags: line.subcategory_flags,
  needsCaution: (line.stream?.first_caution_seq ?? null) !== null,
  partial: line.coverage !== null && line.coverage.judged < line.coverage.total,
});

test('decides in SQL as the run does, by the same rule', async () => {
  const folder = await temporaryFolder();
  await fc.assert(
    fc.asyncProperty(policies, fc.array(judged, { minLength: 1, maxLength: 40 }), async (policy, told) => {
      const dir = mkdtempSync(join(folder, 'run-'));
      const lines = told.map(lineOf);
      writeFileSync(join(dir, 'verdicts.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await writeVerdictTable(dir, policy);
      const out = await LineFile.create(join(folder, `${dir.slice(-6)}.jsonl`));
      const record = { run: 'r', config: { policy } };
      const run = { dir, record } as unknown as FinishedVerdicts;
      const result = await replay(run, {
        policy,
        labels: null,
        wanted: { precision: null, recall: null },
        out,
        signal,
      });
      await out.close();

      const decided = lines.map((line) => decide(policy, scoredOf(line)));
      const changed = lines.flatMap(({ seq, decision }, index) => {
        const { decision: after, decidedBy } = decided[index]!;
        return after === decision ? [] : [{ seq, before: decision, after, decided_by: decidedBy }];
      });
      const written = readFileSync(join(folder, `${dir.slice(-6)}.jsonl`), 'utf8')
        .split('\n')
        .filter(Boolean);
      expect(written.map((text) => JSON.parse(text) as ChangedItem)).toMatchObject(changed);
      expect(result.changed.items).toBe(changed.length);
    }),
    { numRuns: rounds(60) },
  );
});
