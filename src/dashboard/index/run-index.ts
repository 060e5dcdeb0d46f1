import { join } from 'node:path';
import type { z } from 'zod';
import type {
  Facets,
  ITEM_QUERY,
  ItemFilter,
  ItemPage,
  ScoreHistograms,
  ThresholdEffect,
  ThresholdQuery,
} from '../api/items.ts';
import type { RunRecord } from '../../config/run-config.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { withThresholds } from '../../domain/policy.ts';
import type { Review } from '../api/reviews.ts';
import type { Reviews } from '../reviews/reviews.ts';
import { Database } from './database.ts';
import { queryFacets } from './facets-query.ts';
import { itemRow } from './item-row.ts';
import { createItems, REVIEW_NUMBERS } from './items-table.ts';
import type { LinesBySeq } from './lines-by-seq.ts';
import { queryPage } from './page-query.ts';
import { queryScores, queryThresholds } from './threshold-query.ts';
import { writeWellFormedCopy } from './well-formed-copy.ts';

interface BuildOptions {
  readonly record: RunRecord;
  readonly lines: LinesBySeq;
  readonly reviews: Reviews;
  /** Private to this process, and empty but for what the index is made of. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** 0 … 1. */
  readonly progress: (share: number) => void;
}

export interface IndexedItem {
  readonly line: OutcomeLine;
  readonly reviews: readonly Review[];
}

/** The outcomes of a run, ready for the queries of a review list. What it shows of an item is read from its line. */
export class RunIndex {
  readonly record: RunRecord;
  readonly lines: LinesBySeq;
  readonly reviews: Reviews;
  readonly #database: Database;
  #scores: ScoreHistograms | null = null;
  /** Updates of the column `review`, one after the other. */
  #updated: Promise<void> = Promise.resolve();

  private constructor({ record, lines, reviews }: BuildOptions, database: Database) {
    this.record = record;
    this.lines = lines;
    this.reviews = reviews;
    this.#database = database;
  }

  /** Owns the lines from here on if it resolves. Rejects with the signal's reason, or a Failure. */
  static async build(options: BuildOptions): Promise<RunIndex> {
    const { record, lines, folder, signal, progress } = options;
    let { path } = lines;
    if (lines.hasLoneSurrogates) {
      path = join(folder, 'well-formed.jsonl');
      await writeWellFormedCopy(lines.path, path, signal);
    }
    const database = await Database.create(folder);
    try {
      await database.load(createItems(record.config.policy), [path], signal, progress);
      await database.lock();
      return new RunIndex(options, database);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async page(query: z.output<typeof ITEM_QUERY>, signal: AbortSignal): Promise<Omit<ItemPage, 'stale'>> {
    await this.#readReviews(signal);
    const { total, seqs } = await queryPage(this.#database, query, signal);
    const lines = new Map((await this.lines.read(seqs)).map((line) => [line.seq, line]));
    const rows = seqs.map((seq) => itemRow(lines.get(seq)!, this.reviews.last(seq)));
    return { total, offset: query.offset, rows };
  }

  async facets(filter: ItemFilter, signal: AbortSignal): Promise<Facets> {
    await this.#readReviews(signal);
    return queryFacets(this.#database, filter, signal);
  }

  /** What the run's policy with other thresholds would decide. */
  thresholds({ thresholds }: ThresholdQuery, signal: AbortSignal): Promise<ThresholdEffect> {
    return queryThresholds(this.#database, withThresholds(this.record.config.policy, thresholds), signal);
  }

  async scores(signal: AbortSignal): Promise<ScoreHistograms> {
    this.#scores ??= await queryScores(this.#database, signal);
    return this.#scores;
  }

  /** The outcome of an item, and all its reviews; null if there is no such item. */
  async item(seq: number, signal: AbortSignal): Promise<IndexedItem | null> {
    const [line] = await this.lines.read([seq]);
    if (line === undefined) return null;
    await this.reviews.read(signal);
    return { line, reviews: this.reviews.of(seq) };
  }

  /** The seqs of all items that are never shown, in ascending order. */
  async restricted(signal: AbortSignal): Promise<number[]> {
    const rows = await this.#database.query(
      'SELECT seq FROM items WHERE restricted ORDER BY seq',
      [],
      signal,
    );
    return rows.map(([seq]) => Number(seq));
  }

  async close(): Promise<void> {
    await this.#database.close();
    await this.lines.close();
  }

  #readReviews(signal: AbortSignal): Promise<void> {
    const updated = this.#updated.then(() => this.#updateReviews(signal));
    this.#updated = updated.catch(() => undefined);
    return updated;
  }

  async #updateReviews(signal: AbortSignal): Promise<void> {
    await this.reviews.read(signal);
    const changed = this.reviews.takeChanged();
    if (changed.length === 0) return;
    try {
      await this.#database.query(
        `UPDATE items SET review = new.review FROM (
           SELECT unnest(from_json($1, '[{"seq":"UBIGINT","review":"UTINYINT"}]'), recursive := true)
         ) AS new WHERE items.seq = new.seq`,
        [JSON.stringify(changed.map((seq) => ({ seq, review: this.#stateOf(seq) })))],
        signal,
      );
    } catch (error) {
      this.reviews.putBack(changed);
      throw error;
    }
  }

  #stateOf(seq: number): number {
    const review = this.reviews.last(seq);
    if (review === null) return REVIEW_NUMBERS.open;
    return review.agrees ? REVIEW_NUMBERS.agreed : REVIEW_NUMBERS.overturned;
  }
}
