import type { FileHandle } from 'node:fs/promises';
import { writeAt } from '../../files/durable-write.ts';
import { readSpans } from '../../files/read-fully.ts';
import { openUnnamedFile } from '../../files/unnamed-file.ts';

/** Position of a line in a file. */
interface LinePosition {
  readonly offset: number;
  /** Length including the newline. */
  readonly bytes: number;
}

/** Offset, then length; all zeros if a seq has no line. */
const ENTRY_BYTES = 16;
const ENTRIES_PER_PAGE = 8192;

/** Positions of lines by seq, in a temporary file: 16 bytes per seq. Memory: a page of 128 KiB. */
export class LinePositions {
  readonly #file: FileHandle;
  readonly #page = Buffer.alloc(ENTRIES_PER_PAGE * ENTRY_BYTES);
  #pageNumber = 0;
  /** Range of entries in the page that are not in the file yet; `#to` is exclusive. */
  #from = 0;
  #to = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Failure('service') if the temporary file cannot be created. */
  static async create(): Promise<LinePositions> {
    return new LinePositions(await openUnnamedFile());
  }

  /** Call in ascending order of seq. Returns a promise only if there is something to wait for. */
  add(seq: number, { offset, bytes }: LinePosition): Promise<void> | undefined {
    const page = Math.floor(seq / ENTRIES_PER_PAGE);
    if (page !== this.#pageNumber) return this.#turn(page).then(() => this.add(seq, { offset, bytes }));
    const index = seq % ENTRIES_PER_PAGE;
    this.#page.writeDoubleLE(offset, index * ENTRY_BYTES);
    this.#page.writeDoubleLE(bytes, index * ENTRY_BYTES + 8);
    this.#to = index + 1;
    return undefined;
  }

  /** Returns the positions of seqs, given in ascending order without repeats; null for one that was not added. */
  async find(seqs: readonly number[]): Promise<(LinePosition | null)[]> {
    await this.#flush();
    const spans = seqs.map((seq) => ({ offset: seq * ENTRY_BYTES, bytes: ENTRY_BYTES }));
    return (await readSpans(this.#file, spans)).map((entry) => {
      const bytes = entry?.readDoubleLE(8) ?? 0;
      return bytes === 0 ? null : { offset: entry!.readDoubleLE(0), bytes };
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
}
