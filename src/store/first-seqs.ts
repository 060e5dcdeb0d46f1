import type { Environment } from './environment.ts';
import type { SealedTable } from './sealed-table.ts';

/** Claims that are not on disk, at most, when all callers wait for `settled`. */
const MAX_WAITING = 4096;

/**
 * The first item with each content in one pass of one run, on disk. Claims are kept in memory until they are written,
 * many at once. Losing some is harmless: the content is judged a second time.
 */
export class FirstSeqs {
  readonly #environment: Environment;
  readonly #table: SealedTable<number>;
  readonly #pass: Buffer;
  readonly #waiting = new Map<string, number>();
  /** What is being written. */
  #writing: ReadonlyMap<string, number> = new Map();
  #flushing: Promise<void> | null = null;

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
    return seq;
  }

  /** Begins to write the claims so far, and bounds what is kept in memory: to be awaited between shards. */
  async settled(): Promise<void> {
    const written = this.flush();
    if (this.#waiting.size >= MAX_WAITING) await written;
  }

  /** Removes the claims of a pass that is finished. Nothing may be claimed afterwards. */
  async forget(): Promise<void> {
    this.#waiting.clear();
    await this.flush();
    await this.#table.removeAll(this.#pass);
  }

  /** Writes the claims so far, and those that come meanwhile. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = null));
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.size > 0) {
      const claims = new Map(this.#waiting);
      this.#waiting.clear();
      this.#writing = claims;
      await this.#environment.write(() => {
        for (const [content, seq] of claims) this.#table.put(this.#keyOf(content), seq);
      });
    }
    this.#writing = new Map();
  }

  #keyOf(contentSha256: string): Buffer {
    return Buffer.concat([this.#pass, Buffer.from(contentSha256, 'hex')]);
  }
}
