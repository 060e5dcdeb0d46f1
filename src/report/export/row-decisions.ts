import type { OutcomeLine } from '../../domain/outcome.ts';
import type { SourceRecord } from '../../formats/record.ts';
import type { RereadRow } from '../../ingest/reread/reread-source.ts';
import { noRows, type RowCounts } from './left-out.ts';
import { type RowModeration, moderationOf } from './moderation.ts';
import { type ReasonLine, restrictedReasons, rowReasons } from './reasons.ts';
import type { SourceExport } from './source-export.ts';

/** A row that is kept; `value` is its annotation, null for a clean export. */
export interface KeptRow {
  readonly value: RowModeration | null;
}

/** Decides which rows of a source are kept, in order, and lists the others. */
export class RowDecisions {
  readonly counts: RowCounts = noRows();
  readonly #path: string;
  readonly #to: SourceExport;

  constructor(path: string, to: SourceExport) {
    this.#path = path;
    this.#to = to;
  }

  /**
   * Decides a row. Null for an excluded row, and for text around the records. Returns a promise when
   * `VerdictCursor.linesOf` does.
   */
  of(row: RereadRow): KeptRow | null | Promise<KeptRow | null> {
    const lines = this.#to.cursor.linesOf(this.#path, row.record.row);
    return lines instanceof Promise
      ? lines.then((read) => this.#decide(row, read))
      : this.#decide(row, lines);
  }

  #decide({ record, items }: RereadRow, lines: readonly OutcomeLine[]): KeptRow | null {
    const { what, keeping } = this.#to;
    const isAround = record.error === null && record.isWrapper === true;
    if (isAround && items.length === 0 && lines.length === 0) return null;
    const isClean = what.kind === 'clean';
    const restricted = restrictedReasons(items, lines, keeping, record.content);
    if (restricted.length > 0) {
      this.#leaveOut(record, restricted);
      return null;
    }
    const reasons = rowReasons(items, lines, keeping);
    if (isAround) reasons.push({ reason: 'around' });
    if (record.error !== null && reasons.length === 0) reasons.push({ reason: 'not_judged' });
    if (record.error !== null || isAround || (isClean && reasons.length > 0)) {
      this.#leaveOut(record, reasons);
      return null;
    }
    this.counts.kept++;
    return { value: isClean ? null : moderationOf(items, lines) };
  }

  /** Undoes the decision to keep a row: it has no place for an annotation. */
  withoutPlace(record: SourceRecord): void {
    this.counts.kept--;
    this.#leaveOut(record, [{ reason: 'no_object' }]);
  }

  #leaveOut(record: SourceRecord, reasons: readonly ReasonLine[]): void {
    this.#to.leftOut.row(this.#path, record, reasons, this.counts);
  }
}
