import type { Database, Row } from '../../analysis/database.ts';
import type { ScoreColumns } from '../../analysis/score-columns.ts';
import { DECISION_NUMBER } from '../../analysis/verdict-columns.ts';
import type { ItemCode, ItemErrorReason } from '../../domain/item-error.ts';
import type { Decision } from '../../domain/outcome.ts';
import type { Restriction } from '../../domain/restriction/restriction.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import { JUDGED_HERE } from './outcome-counts.ts';
import type { ReportItem } from './report-data.ts';

const MAX_LISTED = 25;

/** Excludes items that repeat the content of an earlier item of the run. */
const FIRST_OF_CONTENT = 'reused_from IS DISTINCT FROM run';
/** Maximum files per cause. */
const MAX_FILES = 20;
/** Maximum items to examine for a list: beyond that, items that people or other runs restrict leave it short. */
const MAX_LOOKED_AT = 10_000;

const UNRESTRICTED = `restricted_by IS NULL AND (turn IS NULL OR (path, "row") NOT IN (
  SELECT (path, "row") FROM outcomes WHERE restricted_by IS NOT NULL AND turn IS NOT NULL AND "row" IS NOT NULL))`;

/** A file with items that were not judged for the same cause. */
export interface UnjudgedFile {
  readonly first: ListedItem;
  readonly code: ItemCode;
  readonly reason: ItemErrorReason | null;
  /** Its items with this cause, such as the rows of a table. */
  readonly items: number;
}

/** An item of a report without a link to its file. */
export type ListedItem = Omit<ReportItem, 'file'>;

/** The items that a report names: `outcomes` has the columns of verdicts.parquet. */
export class ListedItems {
  readonly #database: Database;
  readonly #scored: ScoreColumns;
  readonly #restrictions: Restrictions;
  readonly #signal: AbortSignal;

  constructor(
    { database, scored }: { readonly database: Database; readonly scored: ScoreColumns },
    restrictions: Restrictions,
    signal: AbortSignal,
  ) {
    this.#database = database;
    this.#scored = scored;
    this.#restrictions = restrictions;
    this.#signal = signal;
  }

  /** Highest decision, then highest score. */
  severe(): Promise<ListedItem[]> {
    const order = `${DECISION_NUMBER} DESC, score DESC`;
    return this.#first(MAX_LISTED, `decision IN ('review', 'block') AND ${FIRST_OF_CONTENT}`, order);
  }

  /** Longest latency first, of items judged in this run. */
  slow(): Promise<ListedItem[]> {
    const judged = `decision IS NOT NULL AND latency_ms IS NOT NULL AND ${JUDGED_HERE}`;
    return this.#first(MAX_LISTED, judged, 'latency_ms DESC');
  }

  /** Files with unjudged items per cause, those with the most items first. */
  async unjudgedFiles(): Promise<UnjudgedFile[]> {
    const rows = await this.#database.query(
      `SELECT min(seq)::DOUBLE AS seq, error_code, error_reason, count(*)::DOUBLE AS items FROM outcomes
       WHERE error_code IS NOT NULL GROUP BY error_code, error_reason, path
       QUALIFY row_number() OVER (PARTITION BY error_code, error_reason ORDER BY count(*) DESC, min(seq)) <= ${MAX_FILES}
       ORDER BY items DESC, 1`,
      [],
      this.#signal,
    );
    if (rows.length === 0) return [];
    const firsts = await this.#first(rows.length, `seq IN (${rows.map(([seq]) => seq).join(', ')})`, 'seq');
    const bySeq = new Map(firsts.map((item) => [item.seq, item]));
    return rows.flatMap(([seq, code, reason, items]) => {
      const first = bySeq.get(seq as number);
      if (first === undefined) return [];
      const cause = { code: code as ItemCode, reason: reason as ItemErrorReason | null };
      return [{ first, ...cause, items: items as number }];
    });
  }

  /** The first items in an order, except those that are restricted or have a restricted turn in their conversation. */
  async #first(count: number, condition: string, order: string): Promise<ListedItem[]> {
    for (let limit = count; ; limit *= 10) {
      const rows = await this.#rows(`${UNRESTRICTED} AND ${condition}`, `${order}, seq`, limit);
      const shown = rows.filter(([, restriction]) => restriction === null).map(([item]) => item);
      if (shown.length >= count || rows.length < limit || limit >= MAX_LOOKED_AT)
        return shown.slice(0, count);
    }
  }

  async #rows(
    condition: string,
    order: string,
    limit: number,
  ): Promise<(readonly [ListedItem, Restriction | null])[]> {
    const { columns, names } = this.#scored;
    const scores = columns.map((column, at) => `'${names[at]!}': ${column}`).join(', ');
    const rows = await this.#database.query(
      `SELECT seq::DOUBLE, content_sha256, file_sha256, restricted_by, run, id, path, "row"::DOUBLE, part, turn::DOUBLE, modality,
         decision, score, latency_ms, error_message, to_json(coalesce(subcategory_flags, [])),
         to_json({${scores}})
       FROM outcomes WHERE ${condition} ORDER BY ${order} LIMIT ${limit}`,
      [],
      this.#signal,
    );
    return rows.map((row) => [listedItem(row), this.#restrictedBy(row)] as const);
  }

  /** `row` begins with seq, content_sha256, file_sha256, restricted_by and run. */
  #restrictedBy([seq, content, file, by, run]: Row): Restriction | null {
    if (by !== null) return by as Restriction;
    const [content_sha256, sha256] = [content, file] as [string | null, string | null];
    const item = { run: run as string, seq: seq as number, content_sha256, source: { sha256 } };
    return this.#restrictions.besides(item);
  }
}

function listedItem(cells: Row): ListedItem {
  const [seq, , , , , id, path, row, part, turn, modality, decision, score, latencyMs, error, ...by] = cells;
  const [flags, scores] = by.map((json) => JSON.parse(json as string) as unknown) as [
    string[],
    Record<string, number>,
  ];
  return {
    ...{ seq: seq as number, id: id as string, path: path as string, row: row as number | null },
    ...{
      part: part as string | null,
      turn: turn as number | null,
      modality: modality as ReportItem['modality'],
    },
    ...{ decision: decision as Decision | null, score: score as number | null },
    categories: [...new Set(flags)].sort((a, b) => (scores[b] ?? -1) - (scores[a] ?? -1)),
    ...{ latencyMs: latencyMs as number | null, error: error as string | null },
  };
}
