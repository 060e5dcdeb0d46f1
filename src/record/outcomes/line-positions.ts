import type { FileHandle } from 'node:fs/promises';
import { writeAt } from '../../files/durable-write.ts';
import { readSpans } from '../../files/read-fully.ts';
import { openUnnamedFile } from '../../files/unnamed-file.ts';

/** Where a line of the log is. */
export interface LinePosition {
  /** Name in `log`. */
  readonly segment: string;
  readonly offset: number;
  /** With its newline. */
  readonly bytes: number;
}

/** Offset, then bytes, then the number of the segment plus 1; all zeros where a seq has no line. */
const ENTRY_BYTES = 16;
const ENTRIES_PER_PAGE = 8192;

/**
 * The position of the line of each seq, in a temporary file: 16 bytes per seq. Memory: a page of 128 KiB, and the names of the segments.
 */
export class LinePositions {
  readonly #file: FileHandle;
  readonly #segments: string[] = [];
  readonly #segmentNumbers = new Map<string, number>();
  readonly #page = Buffer.alloc(ENTRIES_PER_PAGE * ENTRY_BYTES);
  #pageNumber = 0;
  /** The entries of the page that are not in the file yet: from one index up to, not including, another. */
  #from = 0;
  #to = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Failure('service') when the temporary file cannot be made. */
  static async create(): Promise<LinePositions> {
    return new LinePositions(await openUnnamedFile());
  }

  /** To be called in ascending seq. A promise only when there is something to wait for. */
  add(seq: number, position: LinePosition): Promise<void> | undefined {
    const page = Math.floor(seq / ENTRIES_PER_PAGE);
    if (page !== this.#pageNumber) return this.#turn(page).then(() => this.add(seq, position));
    const index = seq % ENTRIES_PER_PAGE;
    const at = index * ENTRY_BYTES;
    this.#page.writeDoubleLE(position.offset, at);
    this.#page.writeUInt32LE(position.bytes, at + 8);
    this.#page.writeUInt32LE(this.#numberOf(position.segment), at + 12);
    this.#to = index + 1;
    return undefined;
  }

  /** The positions of seqs, in ascending order without repeats; null for one that was not added. */
  async find(seqs: readonly number[]): Promise<(LinePosition | null)[]> {
    await this.#flush();
    const spans = seqs.map((seq) => ({ offset: seq * ENTRY_BYTES, bytes: ENTRY_BYTES }));
    return (await readSpans(this.#file, spans)).map((entry) => {
      const segment = entry === null ? undefined : this.#segments[entry.readUInt32LE(12) - 1];
      if (entry === null || segment === undefined) return null;
      return { segment, offset: entry.readDoubleLE(0), bytes: entry.readUInt32LE(8) };
    });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #turn(page: number): Promise<void> {
    await this.#flush();
    this.#page.fill(0);
    this.#pageNumber = page;
    this.#from = 0;
    this.#to = 0;
  }

  async #flush(): Promise<void> {
    if (this.#from === this.#to) return;
    const first = this.#pageNumber * ENTRIES_PER_PAGE + this.#from;
    const entries = this.#page.subarray(this.#from * ENTRY_BYTES, this.#to * ENTRY_BYTES);
    await writeAt(this.#file, entries, first * ENTRY_BYTES);
    this.#from = this.#to;
  }

  #numberOf(segment: string): number {
    let number = this.#segmentNumbers.get(segment);
    if (number === undefined) {
      number = this.#segments.push(segment);
      this.#segmentNumbers.set(segment, number);
    }
    return number;
  }
}
