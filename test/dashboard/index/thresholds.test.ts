import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readPolicyFile } from '../../../src/config/job-file/policy-file.ts';
import { THRESHOLD_QUERY, type ThresholdEffect } from '../../../src/dashboard/api/items.ts';
import { DECISIONS, type Decision, type OutcomeLine } from '../../../src/domain/outcome.ts';
import { DEFAULT_POLICY, withThresholds, type Policy } from '../../../src/domain/policy.ts';
import { CATEGORY_KEYS } from '../../../src/domain/taxonomy.ts';
import { replayDecision } from '../../../src/record/outcomes/outcome-line.ts';
import { outcomeLine } from '../../record/outcome-line.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { random, rounds } from '../../helpers/corpus.ts';
import { indexed, signal, randomOutcomes } from './indexed.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1e6);

const KEYS = ['default', ...CATEGORY_KEYS] as const;

/** In steps that scores have too. */
const level = fc.option(
  fc.integer({ min: 0, max: 10 }).map((value) => value / 10),
  { nil: null },
);

const QUERY = fc
  .dictionary(fc.constantFrom(...KEYS), fc.record({ review: level, block: level }), { maxKeys: 5 })
  .map((thresholds) => THRESHOLD_QUERY.parse({ thresholds }));

const POLICIES: readonly Policy[] = [
  DEFAULT_POLICY,
  { thresholds: { default: { review: 0.4, block: 0.8 } }, allowFlagged: true, allowPartial: true },
  {
    thresholds: { default: { block: 0.9 }, hate: { review: 0.2 }, privacy: { review: 0.3, block: 0.5 } },
    allowFlagged: false,
    allowPartial: true,
  },
  { thresholds: { hate: { block: 0.7 } }, allowFlagged: true, allowPartial: false },
];

/** The same by deciding again on every line. */
function effectOf(lines: readonly OutcomeLine[], policy: Policy): ThresholdEffect {
  const counts = (): Record<Decision, number> => ({ allow: 0, review: 0, block: 0 });
  const [now, then] = [counts(), counts()];
  const changed = new Map<string, number>();
  let unknown = 0;
  for (const line of lines) {
    const decided = replayDecision(policy, line);
    if (decided === null || line.decision === null) continue;
    now[line.decision]++;
    then[decided.decision]++;
    if (decided.thresholdUnapplied) unknown++;
    const change = `${line.decision} ${decided.decision}`;
    if (line.decision !== decided.decision) changed.set(change, (changed.get(change) ?? 0) + 1);
  }
  const changes = DECISIONS.flatMap((from) =>
    DECISIONS.flatMap((to) => {
      const items = changed.get(`${from} ${to}`);
      return items === undefined ? [] : [{ from, to, items }];
    }),
  );
  return { now, then, changes, unknown };
}

describe('other thresholds', () => {
  it.each(POLICIES.map((policy, index) => [index, policy] as const))(
    `decide on all items what the policy would, from policy %i (SEED=${SEED})`,
    async (number, policy) => {
      const lines = randomOutcomes(250, random(SEED + number), policy);
      const index = await indexed(lines, policy);
      await fc.assert(
        fc.asyncProperty(QUERY, async (query) => {
          const expected = effectOf(lines, withThresholds(policy, query.thresholds));
          expect(await index.thresholds(query, signal)).toEqual(expected);
        }),
        { seed: SEED, numRuns: rounds(25) },
      );
    },
  );

  it('count the scores at a threshold, and not those just below it', async () => {
    const steps = Array.from({ length: 101 }, (_, step) => step / 100);
    const scores = steps.flatMap((step) => [step * (1 - Number.EPSILON), step, step * (1 + Number.EPSILON)]);
    const lines = scores
      .filter((score) => score <= 1)
      .map((hate, seq) => {
        const none = { score: 0, flagged: false, decision: 'allow' } as const;
        return outcomeLine({ seq, ...none, subcategory_scores: { hate } });
      });
    const index = await indexed(lines);
    for (const review of [...steps, 0.285, 0.29 * (1 + Number.EPSILON)]) {
      const query = THRESHOLD_QUERY.parse({ thresholds: { hate: { review, block: null } } });
      const expected = effectOf(lines, withThresholds(DEFAULT_POLICY, query.thresholds));
      expect(await index.thresholds(query, signal)).toEqual(expected);
    }
  });

  it('of a category that no verdict has are refused', async () => {
    const index = await indexed([outcomeLine({ seq: 0, decision: 'allow' })]);
    const query = THRESHOLD_QUERY.parse({ thresholds: { 'openai/hate': { review: 0.1, block: null } } });
    await expect(index.thresholds(query, signal)).rejects.toThrow('no verdict has the category openai/hate');
    const unnamed = { thresholds: { 'no category': { review: 0.1, block: null } } };
    expect(THRESHOLD_QUERY.safeParse(unnamed).success).toBe(false);
  });

  it('mean what a policy file with them means', async () => {
    const path = join(await temporaryFolder(), 'policy.yaml');
    const given = fc
      .uniqueArray(fc.constantFrom(...KEYS), { minLength: 1, maxLength: 4 })
      .chain((keys) => fc.tuple(...keys.map((key) => fc.tuple(fc.constant(key), level, level))));
    await fc.assert(
      fc.asyncProperty(given, async (all) => {
        const thresholds = Object.fromEntries(all.map(([key, review, block]) => [key, { review, block }]));
        const written = all.flatMap(([key, review, block]) =>
          review === null && block === null
            ? []
            : [[key, { ...(review !== null && { review }), ...(block !== null && { block }) }] as const],
        );
        const file = written.length === 0 ? {} : { thresholds: Object.fromEntries(written) };
        await writeFile(path, stringify(file));
        const read = await readPolicyFile(path, { value: path, place: '--policy' }).catch(() => null);
        // A file in which nothing would be reviewed is refused.
        if (read !== null) expect(withThresholds(DEFAULT_POLICY, thresholds)).toEqual(read);
      }),
      { seed: SEED, numRuns: rounds(40) },
    );
  });

  it('are shown beside how scores are spread', async () => {
    const lines = randomOutcomes(250, random(SEED), DEFAULT_POLICY);
    const index = await indexed(lines);
    const bins = (scores: readonly number[]): number[] => {
      const counts = new Array<number>(100).fill(0);
      for (const score of scores) counts[Math.min(99, Math.floor(score * 100))]!++;
      return counts;
    };
    const { score, categories } = await index.scores(signal);
    expect(score).toEqual(bins(lines.flatMap((line) => line.score ?? [])));
    expect(categories.hate).toEqual(bins(lines.flatMap((line) => line.subcategory_scores?.hate ?? [])));
  });
});
