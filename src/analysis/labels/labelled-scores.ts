import { join } from 'node:path';
import type { CategoryName } from '../../domain/taxonomy.ts';
import { createFile } from '../../files/create-file.ts';
import type { Database } from '../database.ts';
import type { LabelledItem, Labels } from './labels.ts';
import type { ScoreColumns } from '../score-columns.ts';
import { atThreshold, bestThreshold, type AtThreshold, type Minimums } from './thresholds.ts';

/** Thresholds of the curve: 0.05, 0.1, … 0.95. */
const CURVE = Array.from({ length: 19 }, (_, index) => (index + 1) / 20);

const KEYS_PER_WRITE = 10_000;

/** What is asked of a threshold. */
export type Wanted = Minimums;

/** How well the scores of one kind, overall or of a category, fit the labels. */
export interface ScoreResult {
  /** `score`, or the key of a category. */
  readonly score: string;
  /** Verdicts by label. */
  readonly labelled: { readonly true: number; readonly false: number };
  /** Those without a score for the category: what is said of them is from the worst to the best that is possible. */
  readonly without_score: { readonly true: number; readonly false: number };
  readonly curve: readonly AtThreshold[];
  readonly best_f1: AtThreshold | null;
  /** The best threshold that reaches what is wanted; null if none does, or nothing is wanted. */
  readonly wanted: AtThreshold | null;
}

export interface LabelResult {
  readonly labels: number;
  /** Labels of no item of the run. */
  readonly unmatched: number;
  readonly contradictions: number;
  /** Labelled items that ended in an error. */
  readonly without_verdict: number;
  readonly minimums: Wanted;
  readonly scores: readonly ScoreResult[];
}

interface Collected {
  readonly positive: number[];
  readonly negative: number[];
  unknownPositive: number;
  unknownNegative: number;
}

/**
 * Compares the scores of a run with labels. `database` has the table `outcomes` with id, part, content_sha256, `before` (negative
 * for an error), score and those of `scored`.
 */
export async function labelledScores(
  database: Database,
  { labels, scored }: { readonly labels: Labels; readonly scored: ScoreColumns },
  minimums: Wanted,
  signal: AbortSignal,
): Promise<LabelResult> {
  const scores = new LabelledScores(labels, scored.names);
  const keys = join(database.folder, 'labelled.jsonl');
  await writeKeys(keys, labels);
  await database.load(
    `CREATE TABLE labelled AS SELECT * FROM
       read_json($1, format = 'newline_delimited', columns = {id: 'VARCHAR', content: 'VARCHAR'})`,
    [keys],
    signal,
  );
  const rows = database.stream(
    `SELECT id, part, content_sha256, CASE WHEN before >= 0 THEN score END, ${scored.columns.join(', ')}
     FROM outcomes WHERE id IN (SELECT id FROM labelled WHERE id IS NOT NULL)
       OR content_sha256 IN (SELECT content FROM labelled WHERE content IS NOT NULL) ORDER BY seq`,
    [],
    signal,
  );
  for await (const batch of rows) {
    for (const [id, part, content_sha256, score, ...byCategory] of batch) {
      const item = { id, part, content_sha256 } as LabelledItem;
      scores.add(item, score as number | null, byCategory as number[]);
    }
  }
  return scores.result(minimums);
}

async function writeKeys(path: string, labels: Labels): Promise<void> {
  const file = await createFile(path);
  try {
    let texts: string[] = [];
    for (const { id, content } of labels.keys()) {
      // Halves of surrogate pairs, which are no text to DuckDB, become U+FFFD.
      texts.push(`${JSON.stringify({ id: id && Buffer.from(id).toString(), content })}\n`);
      if (texts.length < KEYS_PER_WRITE) continue;
      await file.appendFile(texts.join(''));
      texts = [];
    }
    await file.appendFile(texts.join(''));
  } finally {
    await file.close();
  }
}

class LabelledScores {
  readonly #labels: Labels;
  readonly #names: readonly CategoryName[];
  readonly #byCategory = new Map<CategoryName | null, Collected>();
  #withoutVerdict = 0;

  constructor(labels: Labels, names: readonly CategoryName[]) {
    this.#labels = labels;
    this.#names = names;
  }

  /** `overall`: null for an error; `byCategory`: in the order of the names, negative for none. */
  add(item: LabelledItem, overall: number | null, byCategory: readonly number[]): void {
    const labels = this.#labels.of(item);
    if (labels.length > 0 && overall === null) this.#withoutVerdict++;
    for (const label of labels) {
      label.isMatched = true;
      if (overall === null) continue;
      const { category, isPositive } = label;
      const of = this.#of(category);
      const score = category === null ? overall : (byCategory[this.#names.indexOf(category)] ?? -1);
      if (score >= 0) (isPositive ? of.positive : of.negative).push(score);
      else if (isPositive) of.unknownPositive++;
      else of.unknownNegative++;
    }
  }

  result(minimums: Wanted): LabelResult {
    const isWanted = minimums.precision !== null || minimums.recall !== null;
    const scores: ScoreResult[] = [];
    for (const category of [null, ...this.#names]) {
      const of = this.#byCategory.get(category);
      if (of === undefined) continue;
      scores.push({
        score: category ?? 'score',
        labelled: {
          true: of.positive.length + of.unknownPositive,
          false: of.negative.length + of.unknownNegative,
        },
        without_score: { true: of.unknownPositive, false: of.unknownNegative },
        curve: CURVE.map((threshold) => atThreshold(of, threshold)),
        best_f1: bestThreshold(of, { precision: null, recall: null }),
        wanted: isWanted ? bestThreshold(of, minimums) : null,
      });
    }
    return {
      labels: this.#labels.all.length,
      unmatched: this.#labels.all.filter(({ isMatched }) => !isMatched).length,
      contradictions: this.#labels.contradictions,
      without_verdict: this.#withoutVerdict,
      minimums,
      scores,
    };
  }

  #of(category: CategoryName | null): Collected {
    const known = this.#byCategory.get(category);
    if (known !== undefined) return known;
    const made = { positive: [], negative: [], unknownPositive: 0, unknownNegative: 0 };
    this.#byCategory.set(category, made);
    return made;
  }
}
