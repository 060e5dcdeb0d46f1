import type { SourceSnapshot } from '../../ingest/sources/sources-file.ts';
import type { OutputFile } from './output.ts';
import { mainReason, type Reason, type ReasonLine } from './reasons.ts';

/** Row counts by result. A file that is one item counts as a row. */
export interface RowCounts {
  kept: number;
  rejected: number;
  readonly byReason: Map<Reason, number>;
}

export function noRows(): RowCounts {
  return { kept: 0, rejected: 0, byReason: new Map() };
}

export function addRows(to: RowCounts, from: RowCounts): void {
  to.kept += from.kept;
  to.rejected += from.rejected;
  for (const [reason, rows] of from.byReason) to.byReason.set(reason, (to.byReason.get(reason) ?? 0) + rows);
}

export function countRejected(counts: RowCounts, reason: Reason, rows: number): void {
  counts.rejected += rows;
  counts.byReason.set(reason, (counts.byReason.get(reason) ?? 0) + rows);
}

/** Location of a row; null for the whole file. */
export interface RowPlace {
  readonly row: number | null;
  readonly line: number | null;
}

/** The list of what an export excludes, and why, as one JSON object per line. Never contains content. */
export class LeftOut {
  readonly #run: string;
  readonly #file: OutputFile;

  constructor(run: string, file: OutputFile) {
    this.#run = run;
    this.#file = file;
  }

  /** Adds a row, and counts it by its main reason. Call `drain` once for every few rows. */
  row(path: string, { row, line }: RowPlace, reasons: readonly ReasonLine[], counts: RowCounts): void {
    countRejected(counts, mainReason(reasons), 1);
    this.#add({ path, row, line, reasons });
  }

  /** Lists a source that is not exported, although some of its rows may have been written before. */
  async source({ path }: SourceSnapshot, reason: Reason): Promise<void> {
    this.#add({ path, row: null, line: null, reasons: [{ reason }] });
    await this.drain();
  }

  drain(): Promise<void> {
    return this.#file.drain();
  }

  #add(entry: { readonly path: string } & RowPlace & { readonly reasons: readonly object[] }): void {
    this.#file.add(`${JSON.stringify({ schema: 1, run: this.#run, ...entry })}\n`);
  }
}
