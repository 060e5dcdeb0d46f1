import { join } from 'node:path';
import type { RunRecord } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import { CHILDREN } from '../domain/restriction/restriction.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { findPreviousRun } from '../record/previous-run.ts';
import { ReviewHistory } from '../record/reviews/review-history.ts';
import {
  decisionKey,
  heldSeverity,
  type ReviewProgress,
  withoutTakenBack,
} from '../record/reviews/review.ts';
import { number } from '../record/summary/listed.ts';
import { Database } from './database.ts';
import { openFinishedVerdicts } from './finished-verdicts.ts';
import { DECISION_NUMBER, DECISION_NUMBERS, verdictsInTable } from './verdict-columns.ts';

/** Numbers of the column `review`. */
export const REVIEW_NUMBERS = { open: 0, agreed: 1, overturned: 2, reopened: 3 } as const;

/** Condition for items that have a valid decision. */
export const IS_REVIEWED = `review IN (${REVIEW_NUMBERS.agreed}, ${REVIEW_NUMBERS.overturned})`;

/** Number derived from an item's content, the same for equal content; null for an item without a content hash. */
export const CONTENT_NUMBER = 'CASE WHEN content_sha256 IS NOT NULL THEN hash(content_sha256) END';

export interface ReviewedRun {
  readonly record: RunRecord;
  readonly runDir: string;
  readonly reviews: ReviewHistory;
}

/**
 * Maintains the view `items` in a database: the items of a run with people's decisions on their content, in this run or
 * another. `review` is one of REVIEW_NUMBERS; `found` is true if a person found what restricts the item; `fresh` is
 * true if the previous run did not have its content.
 */
export class ReviewedItems {
  readonly #database: Database;
  readonly #run: ReviewedRun;
  /** Whether there is a previous run. */
  readonly hasPrevious: boolean;
  /** Number of decisions in the table. */
  #known = 0;
  /** Updates of the table, one at a time. */
  #updated: Promise<void> = Promise.resolve();

  private constructor(database: Database, run: ReviewedRun, hasPrevious: boolean) {
    this.#database = database;
    this.#run = run;
    this.hasPrevious = hasPrevious;
  }

  /**
   * `from` is a table with the columns `seq`, `content` and `decision`, as numbers. Reads no decisions yet: see
   * `update`.
   */
  static async create(
    database: Database,
    from: string,
    run: ReviewedRun,
    signal: AbortSignal,
  ): Promise<ReviewedItems> {
    const previous = await previousTable(run, signal);
    const { open, agreed, overturned, reopened } = REVIEW_NUMBERS;
    const statements = [
      // The key is the content, or the seq of an item without one.
      'CREATE TABLE decided (key UBIGINT PRIMARY KEY, decision TINYINT, held TINYINT, found BOOLEAN)',
      previous === null
        ? 'CREATE TABLE fresh (seq UBIGINT)'
        : `CREATE TABLE fresh AS SELECT seq FROM ${from} AS i WHERE content IS NULL OR content NOT IN (
             SELECT ${CONTENT_NUMBER} FROM ${previous} WHERE content_sha256 IS NOT NULL)`,
      `CREATE VIEW items AS SELECT i.*, f.seq IS NOT NULL AS fresh, coalesce(d.found, false) AS found,
         (CASE WHEN d.decision IS NULL THEN ${open} WHEN i.decision > d.held THEN ${reopened}
           WHEN i.decision = d.decision THEN ${agreed} ELSE ${overturned} END)::UTINYINT AS review
       FROM ${from} AS i LEFT JOIN decided AS d ON d.key = coalesce(i.content, i.seq)
       LEFT JOIN fresh AS f ON f.seq = i.seq`,
    ];
    for (const statement of statements) await database.load(statement, [], signal);
    return new ReviewedItems(database, run, previous !== null);
  }

  /** Reads the decisions added since the last update. Failure('internal') if their file fails verification. */
  update(signal: AbortSignal): Promise<void> {
    const updated = this.#updated.then(() => this.#update(signal));
    this.#updated = updated.catch(() => undefined);
    return updated;
  }

  async #update(signal: AbortSignal): Promise<void> {
    const { reviews, record } = this.#run;
    await reviews.readOn(signal);
    const added = reviews.decidedSince(this.#known);
    if (added.length === 0) return;
    // Without a content hash, an item is recognised only within its own run.
    const own = added.filter(({ content_sha256, run }) => content_sha256 !== null || run === record.run);
    const rows = [...new Map(own.map((item) => [decisionKey(item), item])).values()].map((item) => {
      const standing = withoutTakenBack(reviews.of(item));
      const decision = standing.at(-1)?.decision;
      return {
        ...{ seq: item.seq, content_sha256: item.content_sha256, held: heldSeverity(standing) },
        decision: decision == null ? null : DECISION_NUMBERS[decision],
        found: reviews.categories(item)?.includes(CHILDREN) === true,
      };
    });
    const types =
      '[{"seq":"UBIGINT","content_sha256":"VARCHAR","held":"TINYINT","decision":"TINYINT","found":"BOOLEAN"}]';
    await this.#database.query(
      `INSERT OR REPLACE INTO decided SELECT coalesce(${CONTENT_NUMBER}, seq), decision, held, found
       FROM (SELECT unnest(from_json($1, '${types}'), recursive := true))`,
      [JSON.stringify(rows)],
      signal,
    );
    this.#known += added.length;
  }

  /** Review progress as of the last update. */
  async progress(signal: AbortSignal): Promise<ReviewProgress> {
    const flagged = `decision > ${DECISION_NUMBERS.allow}`;
    const counts = [
      `${flagged} AND ${IS_REVIEWED}`,
      IS_REVIEWED,
      `review = ${REVIEW_NUMBERS.overturned}`,
      `${flagged} AND review = ${REVIEW_NUMBERS.reopened}`,
      `${flagged} AND fresh`,
    ];
    const columns = counts.map((condition) => `count(*) FILTER (${condition})`).join(', ');
    const [row] = await this.#database.query(`SELECT ${columns} FROM items`, [], signal);
    const [reviewedFlagged, reviewed, overturned, reopened, fresh] = row!.map(Number);
    return {
      ...{ flagged: reviewedFlagged!, reviewed: reviewed!, overturned: overturned!, reopened: reopened! },
      fresh: this.hasPrevious ? fresh! : null,
    };
  }
}

/** Review progress of a run that has just finished. Failure('internal') if the file of decisions fails verification. */
export async function countReviews(
  { dir, record }: { readonly dir: string; readonly record: RunRecord },
  signal: AbortSignal,
): Promise<ReviewProgress> {
  const run = { record, runDir: dir, reviews: await ReviewHistory.read(dir, signal) };
  return Database.temporary((database) => progressIn(database, run, signal), { keep: 'in memory' });
}

/**
 * Review progress as a line; null if there are no decisions and no previous run. `all` is the number of flagged items
 * in the run.
 */
export function progressText({ flagged, reopened, fresh }: ReviewProgress, all: number): string | null {
  if (fresh === null && flagged + reopened === 0) return null;
  const seen = fresh === null ? [] : [`${number(fresh)} new`, `${number(all - fresh)} seen before`];
  const open = [`${number(flagged)} decided`, `${number(all - flagged)} open`];
  if (reopened > 0) open.push(`${number(reopened)} of them reopened`);
  return `Flagged: ${[...seen, ...open].join(', ')}`;
}

/** Review progress of a finished run with a verified verdicts.parquet, in a database that has no `items` yet. */
export async function progressIn(
  database: Database,
  run: ReviewedRun,
  signal: AbortSignal,
): Promise<ReviewProgress> {
  const verdicts = verdictsInTable(join(run.runDir, RUN_FILES.verdictsParquet));
  const columns = `seq::UBIGINT AS seq, ${CONTENT_NUMBER} AS content, ${DECISION_NUMBER} AS decision`;
  const items = await ReviewedItems.create(database, `(SELECT ${columns} FROM ${verdicts})`, run, signal);
  await items.update(signal);
  return items.progress(signal);
}

/** Verdicts of the previous run; null if there is none or its record fails verification. */
async function previousTable({ runDir, record }: ReviewedRun, signal: AbortSignal): Promise<string | null> {
  const previous = await findPreviousRun(runDir, record, signal);
  if (previous === null) return null;
  try {
    await openFinishedVerdicts(previous.dir, signal);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'internal') return null;
    throw error;
  }
  return verdictsInTable(join(previous.dir, RUN_FILES.verdictsParquet));
}
