import type { Environment } from './environment.ts';
import type { SealedTable } from './sealed-table.ts';

/** Claims that are not on disk, at most, when all callers wait for `settled`. */
const MAX_WAITING = 4096;

/**
 * The first item with each content in one pass of one run, on disk. Claims are kept in memory until they are written,
 * many at once. Losing some costs judging a content a second time.
 */
export class FirstSeqs {
  readonly #environment: Environment;
  readonly #table: SealedTable<number>;
  readonly #pass: Buffer;
  #waiting = new Map<string, number>();
  /** What is being written, or was written last. */
  #writing: ReadonlyMap<string, number> = new Map();
  #claims = 0;
  #written: Promise<void> = Promise.resolve();

  /** `pass`: the beginning of the keys of this pass, of the same length for all passes. */
  constructor(environment: Environment, table: SealedTable<number>, pass: Buffer) {
    this.#environment = environment;
    this.#table = table;
    this.#pass = pass;
  }

  /** The lowest seq claimed for the content so far, this one included. */
  claim(contentSha256: string, seq: number): number {
    const known =
      this.#waiting.get(contentSha256) ??
      this.#writing.get(contentSha256) ??
      this.#table.get(this.#keyOf(contentSha256));
    if (known !== null && known <= seq) return known;
    if (this.#environment.isWhole) this.#waiting.set(contentSha256, seq);
    this.#claims += 1;
    return seq;
  }

  /** Begins to write the claims so far, and bounds what is kept in memory: to be awaited between shards. */
  async settled(): Promise<void> {
    if (this.#claims > 0) this.#written = this.#environment.write(this.#claims, () => this.#putAll());
    this.#claims = 0;
    if (this.#waiting.size >= MAX_WAITING) await this.#written;
  }

  /** Resolves when the claims are written that were settled so far, or cannot be. */
  get written(): Promise<void> {
    return this.#written;
  }

  /** Removes the claims of a pass that is finished. Nothing may be claimed afterwards. */
  async forget(): Promise<void> {
    await this.#written;
    this.#waiting.clear();
    await this.#table.removeAll(this.#pass);
  }

  #putAll(): void {
    if (this.#waiting.size === 0) return;
    this.#writing = this.#waiting;
    this.#waiting = new Map();
    for (const [content, seq] of this.#writing) this.#table.put(this.#keyOf(content), seq);
  }

  #keyOf(contentSha256: string): Buffer {
    return Buffer.concat([this.#pass, Buffer.from(contentSha256, 'hex')]);
  }
}
