import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mkdtempSync, readFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import fc from 'fast-check';
import { type ReplayResult, replay, type ChangedItem } from '../../src/analysis/replay.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { flipBit } from '../helpers/run-directory.ts';
import { typed } from '../cli/terminal.ts';
import { scoredRun } from '../report/export/judged-run.ts';
import type { FinishedVerdicts } from '../../src/analysis/finished-verdicts.ts';
import { LineFile } from '../../src/analysis/line-file.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { decide, withThresholds, type Policy } from '../../src/domain/policy.ts';
import type { CategoryKey, CategoryName } from '../../src/domain/taxonomy.ts';
import { writeVerdicts } from './verdict-table.ts';
import { outcomeLine } from '../record/outcome-line.ts';
import { rounds } from '../helpers/corpus.ts';

/** The run's policy reviews from 0.5 on and blocks from 0.8 on. */
const ROWS = [
  { text: 'calm', score: 0.1 },
  { text: 'odd', score: 0.45 },
  { text: 'rude', score: 0.6, scores: { hate: 0.3 }, flags: ['hate'] as const },
  { text: 'vile', score: 0.9, scores: { hate: 0.95 }, flags: ['hate'] as const },
  { text: 'lost', score: 0, isError: true },
];

let folder: string;
let run: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  run = await scoredRun(folder, 'rows.csv', ROWS);
});

async function replayed(policy: string | null, ...args: string[]): Promise<ReplayResult> {
  if (policy !== null) {
    await writeFile(join(folder, 'policy.yaml'), policy);
    args.push('--policy', 'policy.yaml');
  }
  const done = await typed(['replay', run, ...args, '--json'], { context: { cwd: folder } });
  expect(done).toMatchObject({ status: 0, stderr: '' });
  return JSON.parse(done.stdout) as ReplayResult;
}

test('another policy decides on the recorded scores, and the changed items are written', async () => {
  const policy = 'thresholds: { default: { review: 0.4, block: 0.95 } }';
  const result = await replayed(policy, '--out', 'out.jsonl');
  expect(result).toMatchObject({
    items: 5,
    verdicts: 4,
    errors: 1,
    decisions: {
      allow: { allow: 1, review: 1, block: 0 },
      review: { allow: 0, review: 1, block: 0 },
      block: { allow: 0, review: 0, block: 1 },
    },
    review_queue: { before: 1, after: 2 },
    by_category: [
      { category: 'hate', before: 1, after: 1 },
      { category: 'without_category', before: 0, after: 1 },
    ],
    changed: { items: 1 },
    without_score: {},
    labels: null,
  });
  const changed = { seq: 1, id: 'r1', path: 'rows.csv', row: 2, before: 'allow', after: 'review' };
  expect(result.changed.first).toMatchObject([
    { ...changed, part: null, turn: null, decided_by: 'score>=0.4' },
  ]);
  expect(JSON.parse(await readFile(join(folder, 'out.jsonl'), 'utf8'))).toEqual(result.changed.first[0]);
});

test('a score that the guard did not give reaches no threshold, and is counted', async () => {
  const result = await replayed(
    'thresholds: { default: { review: 0.5, block: 0.8 }, hate: { review: 0.2 }, privacy: { review: 0.9, block: 0.9 } }',
  );
  expect(result.decisions.allow).toEqual({ allow: 2, review: 0, block: 0 });
  expect(result.without_score).toEqual({ hate: 2, privacy: 4 });
});

test('labels measure thresholds, and what no threshold reaches is said', async () => {
  const rows = 'r0,false, r1,0, r2,true, r3,1, r4,true, nobody,true, r2,false, r1,true,hate r3,true,hate';
  await writeFile(join(folder, 'labels.csv'), `id,label,category\n${rows.replaceAll(' ', '\n')}\n`);
  const wanted = ['--min-precision', '1', '--min-recall', '0.9'];
  const { labels } = await replayed(null, '--labels', 'labels.csv', ...wanted);
  expect(labels).toMatchObject({ labels: 8, unmatched: 1, contradictions: 1, without_verdict: 1 });
  const [overall, hate] = labels!.scores;
  expect(overall).toMatchObject({
    score: 'score',
    labelled: { true: 2, false: 2 },
    without_score: { true: 0, false: 0 },
    best_f1: { threshold: 0.6, precision: 1, recall: 1, f1: 1 },
    wanted: { threshold: 0.6 },
  });
  expect(hate).toMatchObject({
    score: 'hate',
    labelled: { true: 2, false: 0 },
    without_score: { true: 1, false: 0 },
    best_f1: { threshold: 0.95, recall: 0.5 },
    wanted: null,
  });
});

test.each<[what: string, args: string[], says: string]>([
  ['nothing to apply', [], '--policy FILE'],
  ['a label that is none', ['--labels', 'bad.csv'], 'row 2 has no usable label'],
  ['a file that is there', ['--policy', 'policy.yaml', '--out', 'rows.csv'], 'already exists'],
  ['a file in a run', ['--policy', 'policy.yaml', '--out', 'RUN/changed.jsonl'], 'in a run directory'],
])('%s is a usage failure', async (_what, args, says) => {
  await writeFile(join(folder, 'policy.yaml'), 'thresholds: { default: { review: 0.4 } }');
  await writeFile(join(folder, 'bad.csv'), 'id,label\nr0,true\nr1,maybe\n');
  const given = args.map((arg) => arg.replace('RUN', run));
  const done = await typed(['replay', run, ...given], { context: { cwd: folder } });
  expect([done.status, done.stderr]).toEqual([2, expect.stringContaining(says)]);
});

test('a record that failed verification is not read', async () => {
  const path = join(run, 'verdicts.parquet');
  await writeFile(join(folder, 'policy.yaml'), 'thresholds: { default: { review: 0.4 } }');
  for (const [damage, problem] of [
    [flipBit, 'does not have the hash'],
    [rm, 'is missing'],
  ] as const) {
    await damage(path);
    const done = await typed(['replay', run, '--policy', 'policy.yaml'], { context: { cwd: folder } });
    expect([done.status, done.stderr]).toEqual([1, expect.stringContaining(`verdicts.parquet ${problem}`)]);
  }
});

const signal = new AbortController().signal;
const CATEGORIES: readonly CategoryName[] = [
  ...(['violent_crimes', 'child_sexual_exploitation', 'hate', 'cybersecurity'] as const),
  ...(['openai/hate', 'openai/sexual/minors'] as const),
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
      default: levels,
      violent_crimes: levels,
      hate: levels,
      cybersecurity: levels,
      'openai/hate': levels,
      'openai/sexual/minors': levels,
      'shieldgemma/hate': levels,
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
  coverage: fc.constantFrom(null, ...[5, 4].map((judged) => ({ unit: 'chars', judged, total: 5 }))),
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
      await writeVerdicts(dir, lines, policy);
      const out = await LineFile.create(join(folder, `${dir.slice(-6)}.jsonl`));
      const record = { run: 'r', config: { policy } };
      const run = { dir, record } as unknown as FinishedVerdicts;
      const wanted = { precision: null, recall: null };
      const result = await replay(run, { policy, labels: null, wanted, out, signal });
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
    { numRuns: rounds(32) },
  );
});
