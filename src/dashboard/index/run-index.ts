import { availableParallelism } from 'node:os';
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
import { Database, type DatabaseLimits } from '../../analysis/database.ts';
import { loadLines } from '../../analysis/load-lines.ts';
import { ScoreColumns } from '../../analysis/score-columns.ts';
import { VERDICTS_IN_TABLE, verdictsInLines } from '../../analysis/verdict-columns.ts';
import type { RunRecord } from '../../config/run-config.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { withThresholds } from '../../domain/policy.ts';
import type { Restriction } from '../../domain/restriction/restriction.ts';
import type { Review } from '../../record/reviews/review.ts';
import { RestrictedList } from '../../record/restricted/restricted-list.ts';
import { Restrictions } from '../../record/restricted/restrictions.ts';
import type { Reviews } from '../reviews/reviews.ts';
import { allOf, conditionsOf } from './conditions.ts';
import { queryFacets } from './facets-query.ts';
import { itemRow } from './item-row.ts';
import { createItems, REVIEW_NUMBERS } from './items-table.ts';
import { DashboardError } from '../errors.ts';
import { LinesBySeq } from './lines-by-seq.ts';
import { queryPage } from './page-query.ts';
import { queryScores, queryThresholds } from './threshold-query.ts';
import { queryUnjudged, type UnjudgedFiles } from './unjudged-files.ts';

interface BuildOptions {
  readonly record: RunRecord;
  readonly runDir: string;
  /** File of the outcomes. */
  readonly path: string;
  /** Of that file, in hex; null: there is nothing to check it against. */
  readonly sha256: string | null;
  /** Path of the verdicts.parquet of a finished run, which was checked; null: there is none. */
  readonly table: string | null;
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
  readonly restricted_by: Restriction | null;
}

/** Copies that one review covers. */
const MAX_COPIES = 10_000;

/** Loading takes most memory; queries of a million rows take a tenth. */
const limits = (): DatabaseLimits => ({
  ...{ memory: '384MB', connections: 2, queryTimeoutMs: 20_000, inOrder: false, keptMemory: null },
  threads: Math.min(4, availableParallelism()),
});

/** The outcomes of a run, ready for the queries of a review list. What it shows of an item is read from its line. */
export class RunIndex {
  readonly record: RunRecord;
  readonly lines: LinesBySeq;
  readonly reviews: Reviews;
  readonly #restrictions: Restrictions;
  readonly #database: Database;
  readonly #scored: ScoreColumns;
  #scores: ScoreHistograms | null = null;
  /** Updates of the column `review`, one after the other. */
  #updated: Promise<void> = Promise.resolve();

  private constructor(
    { record, runDir, reviews }: Pick<BuildOptions, 'record' | 'runDir' | 'reviews'>,
    lines: LinesBySeq,
    database: Database,
    scored: ScoreColumns,
  ) {
    this.record = record;
    this.lines = lines;
    this.reviews = reviews;
    const { policy } = record.config;
    const list = RestrictedList.beside(runDir);
    this.#restrictions = new Restrictions({ run: record.run, policy, reviews, list });
    this.#database = database;
    this.#scored = scored;
  }

  /**
   * Scans and loads the file at the same time; there is no index before both have ended well. Rejects with the signal's
   * reason, or with a Failure, as `LinesBySeq.scan` does.
   */
  static async build(options: BuildOptions): Promise<RunIndex> {
    const { record, path, sha256, table, folder, signal } = options;
    const progress = { scanned: 0, loaded: 0 };
    const advance = (step: keyof typeof progress) => (share: number) => {
      progress[step] = share;
      options.progress((progress.scanned + progress.loaded) / 2);
    };
    const { policy } = record.config;
    const database = await Database.create(folder, limits());
    const unusable = new AbortController();
    let lines: LinesBySeq | null = null;
    try {
      const either = AbortSignal.any([signal, unusable.signal]);
      const scored =
        table === null
          ? ScoreColumns.ofTaxonomy([policy])
          : await ScoreColumns.of(database, table, [policy], either);
      const from = table === null ? verdictsInLines(policy) : VERDICTS_IN_TABLE;
      const sql = createItems(policy, scored, from);
      const loading =
        table === null
          ? loadLines(database, sql, path, either, advance('loaded'))
          : database.load(sql, [table], either, advance('loaded'));
      // Whether the file is the right one matters more than whether it was loaded.
      loading.catch(() => undefined);
      lines = await LinesBySeq.scan(path, { sha256, signal, progress: advance('scanned') });
      await loading;
      await database.lock();
      return new RunIndex(options, lines, database, scored);
    } catch (error) {
      unusable.abort();
      await database.close();
      await lines?.close();
      throw error;
    }
  }

  async page(query: z.output<typeof ITEM_QUERY>, signal: AbortSignal): Promise<Omit<ItemPage, 'stale'>> {
    await this.#readReviews(signal);
    await this.#restrictions.read(signal);
    const { total, seqs } = await queryPage(this.#database, query, signal);
    const lines = new Map((await this.lines.read(seqs)).map((line) => [line.seq, line]));
    const rows = seqs.map((seq) => {
      const line = lines.get(seq)!;
      return itemRow(line, this.reviews.of(seq), this.#restrictions.by(line) !== null);
    });
    return { total, offset: query.offset, rows };
  }

  /** The texts that pass a filter and were judged, from an item on, in corpus order. */
  async texts(filter: ItemFilter, from: number, limit: number, signal: AbortSignal): Promise<number[]> {
    await this.#readReviews(signal);
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
    await this.#readReviews(signal);
    return queryFacets(this.#database, filter, signal);
  }

  /** What the run's policy with other thresholds would decide. INVALID_REQUEST for a category of which the run knows nothing. */
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
    return { line, reviews: this.reviews.of(seq), restricted_by };
  }

  /** The other items with the content of this one, in ascending order: a review is of the content. At most 10,000. */
  async copiesOf({ seq }: OutcomeLine, signal: AbortSignal): Promise<number[]> {
    const rows = await this.#database.query(
      `SELECT seq FROM items WHERE content = (SELECT content FROM items WHERE seq = $1) AND seq <> $1
       ORDER BY seq LIMIT ${MAX_COPIES}`,
      [BigInt(seq)],
      signal,
    );
    return rows.map(([copy]) => Number(copy));
  }

  /** The files of which nothing was judged; `limit` of them are named. */
  unjudged(limit: number, signal: AbortSignal): Promise<UnjudgedFiles> {
    return queryUnjudged(this.#database, limit, signal);
  }

  /** What is restricted, as the reviews and the other runs of the folder have it now. */
  async currentRestrictions(signal: AbortSignal): Promise<Restrictions> {
    await this.reviews.readOn(signal);
    await this.#restrictions.read(signal);
    return this.#restrictions;
  }

  /** The seqs of the items that the guard or the policy restricts, in ascending order. */
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
    await this.reviews.readOn(signal);
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
