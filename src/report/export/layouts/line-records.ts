import type { ReadRecord } from '../../../formats/record.ts';
import { SourceRefused } from '../reasons.ts';
import {
  isWhiteSpace,
  stretchOf,
  stretchTo,
  addStretch,
  type Addition,
  type Copying,
  type RecordsWriter,
} from './records-writer.ts';

const LF = 0x0a;
const CR = 0x0d;

/**
 * Rows of a table, or lines of JSON Lines: each has its own line break. Of the text between rows, only the byte order
 * mark, the line that names the delimiter, the header and blank lines are kept.
 */
export class LineRecords implements RecordsWriter {
  readonly #copying: Copying;
  readonly #headerAddition: () => Addition | null;
  #isBegun = false;
  /** Whether the last row was dropped and ends with CR: a following LF is then part of its line break. */
  #isAfterDroppedCr = false;

  /** `headerAddition` is called once the header is known; it returns null if nothing is added or there is no header. */
  constructor(copying: Copying, headerAddition: () => Addition | null) {
    this.#copying = copying;
    this.#headerAddition = headerAddition;
  }

  keep(record: ReadRecord, addition: Addition | null): void {
    const { source } = this.#copying;
    this.#upTo(record);
    const stretch = stretchOf(source, record);
    this.#isAfterDroppedCr = false;
    addStretch(this.#copying, stretch, addition);
  }

  drop(record: ReadRecord): void {
    this.#upTo(record);
    const stretch = stretchTo(this.#copying.source, record.span!.end);
    this.#isAfterDroppedCr = stretch?.at(-1) === CR;
  }

  end(): void {
    const { source } = this.#copying;
    const { textWindow, bodyStart } = source;
    if (this.#isBegun || bodyStart !== null) this.#begin();
    else this.#copying.out.add(source.mark);
    const rest = textWindow.rest();
    if (bodyStart === null && (rest === null || !isWhiteSpace(rest))) throw new SourceRefused('header');
    this.#between(rest);
  }

  /** Writes the text before a record that belongs to no record. */
  #upTo({ span }: ReadRecord): void {
    this.#begin();
    this.#between(stretchTo(this.#copying.source, span!.start));
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const { source, out } = this.#copying;
    out.add(source.mark);
    const { bodyStart } = source;
    const header = bodyStart === null ? null : stretchTo(source, bodyStart);
    if (header === null) throw new SourceRefused('header');
    const addition = this.#headerAddition();
    addStretch(this.#copying, header, addition);
  }

  #between(stretch: Buffer | null): void {
    if (stretch === null || stretch.length === 0 || !isWhiteSpace(stretch)) return;
    const isRest = this.#isAfterDroppedCr && stretch[0] === LF;
    this.#isAfterDroppedCr = false;
    this.#copying.out.add(isRest ? stretch.subarray(1) : stretch);
  }
}
