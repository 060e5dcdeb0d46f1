import type { Environment } from './environment.ts';
import type { SealedTable } from './sealed-table.ts';

/** Claims that are not on disk, at most, when all callers wait for `settled`: some 20 MB. Half as many are not written at all. */
const MAX_WAITING = 131_072;
/** Claims that are written in one transaction, which nothing else interrupts. */
const WRITTEN_AT_ONCE = 4096;

/**
 * The first item with each content in one pass of one run: in memory for most runs, and on disk for those with more
 * contents. Losing some is harmless: the content is judged a second time.
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

  /** Bounds what is kept in memory: to be awaited between shards. */
  async settled(): Promise<void> {
    if (this.#waiting.size < MAX_WAITING / 2) return;
    const written = this.flush();
    if (this.#waiting.size >= MAX_WAITING) await written;
  }

  /** Removes the claims of a pass that is finished. Nothing may be claimed afterwards. */
  async forget(): Promise<void> {
    this.#waiting.clear();
    await this.flush();
    await this.#table.removeAll(this.#pass);
  }

  /** Writes the claims so far, and those that come meanwhile: to be awaited before the store is closed. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => (this.#flushing = null));
    return this.#flushing;
  }

  async #write(): Promise<void> {
    while (this.#waiting.size > 0) {
      const claims = new Map<string, number>();
      for (const [content, seq] of this.#waiting) {
        if (claims.size >= WRITTEN_AT_ONCE) break;
        claims.set(content, seq);
        this.#waiting.delete(content);
      }
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
