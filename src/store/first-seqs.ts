import { crc32 } from 'node:zlib';
import type { Environment, Table } from './environment.ts';

const CONTENT_BYTES = 32;
const SEQ_BYTES = 6;
/** The seq, and a CRC-32 over it and its content. */
const ENTRY_BYTES = SEQ_BYTES + 4;

/** Claims that are not on disk, at most, when all callers wait for `settled`. */
const FLUSH_CLAIMS = 4096;

/**
 * The first item with each content in one pass of one run, on disk. Claims are kept in memory until they are written,
 * many at once. Losing some is harmless: the content is judged a second time.
 */
export class FirstSeqs {
  readonly #environment: Environment;
  readonly #table: Table | null;
  readonly #waiting = new Map<string, number>();
  /** What is being written. */
  #writing: ReadonlyMap<string, number> = new Map();
  #flushing: Promise<void> | null = null;
  readonly #key = Buffer.alloc(CONTENT_BYTES);

  /** Without a table nothing is remembered. */
  constructor(environment: Environment, table: Table | null) {
    this.#environment = environment;
    this.#table = table;
  }

  /** The lowest seq claimed for the content so far, this one included. */
  claim(contentSha256: string, seq: number): number {
    if (this.#table === null) return seq;
    const known = this.#find(contentSha256, this.#table);
    if (known !== null && known <= seq) return known;
    this.#waiting.set(contentSha256, seq);
    return seq;
  }

  /** Begins to write the claims so far, and bounds what is kept in memory: to be awaited between shards. */
  async settled(): Promise<void> {
    const written = this.flush();
    if (this.#waiting.size >= FLUSH_CLAIMS) await written;
  }

  /** Removes the claims of a pass that is finished. Nothing may be claimed afterwards. */
  async forget(): Promise<void> {
    this.#waiting.clear();
    await this.flush();
    const table = this.#table;
    if (table !== null) await this.#environment.write(() => this.#environment.drop(table));
  }

  #find(contentSha256: string, table: Table): number | null {
    const unwritten = this.#waiting.get(contentSha256) ?? this.#writing.get(contentSha256);
    if (unwritten !== undefined) return unwritten;
    this.#key.write(contentSha256, 0, CONTENT_BYTES, 'hex');
    const value = this.#environment.get(table, this.#key);
    if (value?.length !== ENTRY_BYTES || value.readUInt32LE(SEQ_BYTES) !== checkOf(this.#key, value))
      return null;
    return value.readUIntLE(0, SEQ_BYTES);
  }

  /** Writes the claims so far, and those that come meanwhile. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = null));
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    const table = this.#table;
    while (table !== null && this.#waiting.size > 0) {
      const claims = new Map(this.#waiting);
      this.#waiting.clear();
      this.#writing = claims;
      await this.#environment.write(() => {
        for (const [contentSha256, seq] of claims) {
          const value = Buffer.alloc(ENTRY_BYTES);
          const key = Buffer.from(contentSha256, 'hex');
          value.writeUIntLE(seq, 0, SEQ_BYTES);
          value.writeUInt32LE(checkOf(key, value), SEQ_BYTES);
          this.#environment.put(table, key, value);
        }
      });
    }
    this.#writing = new Map();
  }
}

function checkOf(key: Buffer, value: Buffer): number {
  return crc32(value.subarray(0, SEQ_BYTES), crc32(key));
}
