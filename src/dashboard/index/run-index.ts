import type { z } from 'zod';
import type {
  Facets,
  ITEM_QUERY,
  ItemFilter,
  ItemPage,
  ItemRow,
  ScoreHistograms,
  ThresholdEffect,
  ThresholdQuery,
} from '../api/items.ts';
import type { Database } from '../../analysis/database.ts';
import type { ScoreColumns } from '../../analysis/score-columns.ts';
import { IS_REVIEWED, type ReviewedItems, type ReviewedRun } from '../../analysis/reviewed-items.ts';
import type { RunRecord } from '../../config/run-config.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { withThresholds } from '../../domain/policy.ts';
import type { Restriction } from '../../domain/restriction/restriction.ts';
import { isCategoryName } from '../../domain/taxonomy.ts';
import { currentReview, type Review, type ReviewProgress } from '../../record/reviews/review.ts';
import { RestrictedList } from '../../record/restricted/restricted-list.ts';
import { Restrictions } from '../../record/restricted/restrictions.ts';
import type { Reviews } from '../reviews/reviews.ts';
import { allOf, conditionsOf, queryPage } from './conditions.ts';
import { queryFacets } from './facets-query.ts';
import { DashboardError } from '../errors.ts';
import type { LinesBySeq } from './lines-by-seq.ts';
import { queryScores, queryThresholds } from './threshold-query.ts';

export interface RunIndexParts extends ReviewedRun {
  readonly reviews: Reviews;
}

interface Opened {
  readonly lines: LinesBySeq;
  readonly database: Database;
  readonly scored: ScoreColumns;
  readonly reviewed: ReviewedItems;
}

/** Files without any verdict. */
interface UnjudgedFiles {
  readonly files: number;
  readonly items: number;
  /** First item of each of the files with the most items, and the number of its items. */
  readonly first: readonly { readonly seq: number; readonly items: number }[];
}

export interface IndexedItem {
  readonly line: OutcomeLine;
  readonly reviews: readonly Review[];
  readonly restricted_by: Restriction | null;
}

/** Maximum copies of an item named in an answer. */
const MAX_COPIES = 10_000;

const CONDITIONS = { restricted: 'restricted', found: 'found', reviewed: IS_REVIEWED } as const;

/** The outcomes of a run, indexed for the queries of a review list. Displayed data of an item is read from its line. */
export class RunIndex {
  readonly record: RunRecord;
  readonly runDir: string;
  readonly lines: LinesBySeq;
  readonly reviews: Reviews;
  readonly #restrictions: Restrictions;
  readonly #database: Database;
  readonly #scored: ScoreColumns;
  readonly #reviewed: ReviewedItems;
  #scores: ScoreHistograms | null = null;

  constructor({ record, runDir, reviews }: RunIndexParts, { lines, database, scored, reviewed }: Opened) {
    this.record = record;
    this.runDir = runDir;
    this.lines = lines;
    this.reviews = reviews;
    this.#reviewed = reviewed;
    const { policy } = record.config;
    const list = RestrictedList.beside(runDir);
    this.#restrictions = new Restrictions({ run: record.run, policy, reviews, list });
    this.#database = database;
    this.#scored = scored;
  }

  async page(query: z.output<typeof ITEM_QUERY>, signal: AbortSignal): Promise<ItemPage> {
    await this.#reviewed.update(signal);
    await this.#restrictions.read(signal);
    const { total, seqs } = await queryPage(this.#database, query, signal);
    const lines = new Map((await this.lines.read(seqs)).map((line) => [line.seq, line]));
    const rows = seqs.map((seq) => {
      const line = lines.get(seq)!;
      return itemRow(line, this.reviews.of(line), this.#restrictions.by(line) !== null);
    });
    return { total, offset: query.offset, rows };
  }

  /** Text items that were judged and pass a filter, from an item on, in corpus order. */
  async texts(filter: ItemFilter, from: number, limit: number, signal: AbortSignal): Promise<number[]> {
    await this.#reviewed.update(signal);
    const conditions = conditionsOf(filter);
    const rows = await this.#database.query(
      `SELECT seq FROM items WHERE ${allOf(conditions)} AND modality = 'text' AND decision >= 0 AND seq >= ${from}
       ORDER BY seq LIMIT ${limit}`,
      conditions.values,
      signal,
    );
    return rows.map(([seq]) => Number(seq));
  }

  async facets(filter: ItemFilter, signal: AbortSignal): Promise<Facets> {
    await this.#reviewed.update(signal);
    const facets = await queryFacets(this.#database, filter, signal);
    return { ...facets, fresh: this.#reviewed.hasPrevious ? facets.fresh : null };
  }

  /** Decides with other thresholds in the run's policy. INVALID_REQUEST for a category without any score in the run. */
  async thresholds({ thresholds }: ThresholdQuery, signal: AbortSignal): Promise<ThresholdEffect> {
    const isKnown = new Set<string>(['default', ...this.#scored.names]);
    const other = Object.keys(thresholds).find((name) => !isKnown.has(name));
    if (other !== undefined)
      throw new DashboardError('INVALID_REQUEST', `no verdict has the category ${other}`, 'thresholds');
    return queryThresholds(
      this.#database,
      this.#scored,
      withThresholds(this.record.config.policy, thresholds),
      signal,
    );
  }

  async scores(signal: AbortSignal): Promise<ScoreHistograms> {
    this.#scores ??= await queryScores(this.#database, this.#scored, signal);
    return this.#scores;
  }

  /** The outcome of an item, and all its reviews; null if there is no such item. */
  async item(seq: number, signal: AbortSignal): Promise<IndexedItem | null> {
    const [line] = await this.lines.read([seq]);
    if (line === undefined) return null;
    const restricted_by = (await this.currentRestrictions(signal)).by(line);
    return { line, reviews: this.reviews.of(line), restricted_by };
  }

  /** Other items with the same content, in ascending order, since a review is about the content. At most 10,000. */
  async copiesOf({ seq }: OutcomeLine, signal: AbortSignal): Promise<number[]> {
    const rows = await this.#database.query(
      `SELECT seq FROM items WHERE content = (SELECT content FROM items WHERE seq = $1) AND seq <> $1
       ORDER BY seq LIMIT ${MAX_COPIES}`,
      [BigInt(seq)],
      signal,
    );
    return rows.map(([copy]) => Number(copy));
  }

  /** The files without any verdict, of which `limit` are listed. */
  async unjudged(limit: number, signal: AbortSignal): Promise<UnjudgedFiles> {
    const rows = await this.#database.query(
      `WITH unjudged AS (
         SELECT min(seq) AS seq, count(*) AS items FROM items GROUP BY path HAVING max(decision) < 0
       )
       SELECT seq::DOUBLE, items::DOUBLE, count(*) OVER ()::DOUBLE, (sum(items) OVER ())::DOUBLE
       FROM unjudged ORDER BY items DESC, seq LIMIT ${limit}`,
      [],
      signal,
    );
    return {
      files: Number(rows[0]?.[2] ?? 0),
      items: Number(rows[0]?.[3] ?? 0),
      first: rows.map(([seq, items]) => ({ seq: Number(seq), items: Number(items) })),
    };
  }

  /** Current restrictions by the policy, the reviews and the other runs of the folder. */
  async currentRestrictions(signal: AbortSignal): Promise<Restrictions> {
    await this.reviews.readOn(signal);
    await this.#restrictions.read(signal);
    return this.#restrictions;
  }

  /** The review progress. */
  async progress(signal: AbortSignal): Promise<ReviewProgress> {
    await this.#reviewed.update(signal);
    return this.#reviewed.progress(signal);
  }

  /**
   * The seqs of some items, in ascending order: those restricted by the guard or the policy, those in which people
   * found what restricts them, or those with a valid review.
   */
  async seqsOf(which: keyof typeof CONDITIONS, signal: AbortSignal): Promise<number[]> {
    await this.#reviewed.update(signal);
    const sql = `SELECT seq FROM items WHERE ${CONDITIONS[which]} ORDER BY seq`;
    return (await this.#database.query(sql, [], signal)).map(([seq]) => Number(seq));
  }

  async close(): Promise<void> {
    await this.#database.close();
    await this.lines.close();
  }
}

/** Converts an outcome to a row of the review list; `reviews` are those of the item, oldest first. */
function itemRow(line: OutcomeLine, reviews: readonly Review[], restricted: boolean): ItemRow {
  return {
    seq: line.seq,
    id: line.id,
    path: line.source.path,
    row: line.source.row,
    part: line.part,
    turn: line.turn,
    modality: line.modality,
    request_type: line.request_type,
    decision: line.decision,
    score: line.score,
    categories: flaggedCategories(line),
    error_code: line.error?.code ?? null,
    restricted,
    review: currentReview(reviews, line),
    reviews: reviews.length,
  };
}

/** Flagged categories, most probable first; those without a score last. */
function flaggedCategories({ subcategory_flags, subcategory_scores }: OutcomeLine): string[] {
  const scoreOf = (key: string): number => (isCategoryName(key) ? (subcategory_scores?.[key] ?? -1) : -1);
  return [...(subcategory_flags ?? [])].sort((a, b) => scoreOf(b) - scoreOf(a));
}
