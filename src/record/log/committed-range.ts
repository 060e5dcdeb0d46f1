import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { CommittedRange } from './commit-table.ts';

/** Max bytes of one shard's outcome lines: the longest string that Node supports. */
const MAX_BYTES = 512 * 1024 * 1024 - 32;

/** A range of a segment and its hash. */
type Range = Omit<CommittedRange, 'has'>;

/** Reads committed ranges of a run's segments and checks each against the hash in its commit. */
export class RangeReader {
  readonly #logDir: string;
  #segment: string | null = null;
  #handle: FileHandle | null = null;
  /** Known size of the open segment, in bytes. */
  #size = 0;
  /** Reused: allocating one per shard would create long-lived garbage. */
  #buffer = Buffer.alloc(0);

  constructor(runDir: string) {
    this.#logDir = join(runDir, RUN_FILES.log);
  }

  /**
   * Reads the bytes of a range; the next call overwrites them. Failure('internal') names the segment and the range when
   * the bytes differ from what was committed.
   */
  async read(range: Range): Promise<Buffer> {
    const bytes = await this.#bytes(range);
    if (bytes === null || hash('sha256', bytes) !== range.sha256) {
      const place = `${range.offset} to ${range.offset + range.length}`;
      throw new Failure(
        'internal',
        `log/${range.segment}: bytes ${place} differ from those that were committed`,
      );
    }
    return bytes;
  }

  /** Whether the segment ends within a range. */
  async isCutOff(range: Range): Promise<boolean> {
    return (await this.#open(range.segment)) && (await this.#sizeFor(range)) < range.offset + range.length;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    this.#segment = null;
    await handle?.close();
  }

  /** Reads the bytes of a range; null when the segment is missing or too short. */
  async #bytes(range: Range): Promise<Buffer | null> {
    if (!(await this.#open(range.segment))) return null;
    if ((await this.#sizeFor(range)) < range.offset + range.length || range.length > MAX_BYTES) return null;
    if (this.#buffer.length < range.length) this.#buffer = Buffer.allocUnsafeSlow(range.length);
    const bytes = await readFully(this.#handle!, this.#buffer.subarray(0, range.length), range.offset);
    return bytes.length === range.length ? bytes : null;
  }

  /** Opens a segment if it is not open already; false when it is missing. */
  async #open(segment: string): Promise<boolean> {
    if (this.#segment === segment && this.#handle !== null) return true;
    await this.close();
    try {
      this.#handle = await openFile(join(this.#logDir, segment), 'refuse');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    this.#segment = segment;
    this.#size = 0;
    return true;
  }

  /** Size of the open segment, read again if the range ends beyond the known size. */
  async #sizeFor({ offset, length }: Range): Promise<number> {
    if (offset + length > this.#size) this.#size = (await this.#handle!.stat()).size;
    return this.#size;
  }
}
