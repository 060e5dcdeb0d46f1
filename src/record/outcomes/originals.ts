import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { LogLine } from '../../domain/outcome.ts';
import { openFile } from '../../files/open-file.ts';
import { readSpans } from '../../files/read-fully.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { LinePositions, type LinePosition } from './line-positions.ts';

/** Lines found lately are kept, since many items may be copies of few: at most so many, and so many bytes of the log. */
const MAX_KEPT = 4096;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

const MAX_OPEN_SEGMENTS = 32;

interface Kept {
  readonly line: LogLine;
  readonly bytes: number;
}

/**
 * The lines of a log by seq, found again by their positions. Memory: the lines of one call of `find`, those found lately,
 * and what `LinePositions` needs.
 */
export class Originals {
  readonly #logDir: string;
  readonly #positions: LinePositions;
  readonly #segments = new Map<string, FileHandle>();
  /** The least recently found first. */
  readonly #kept = new Map<number, Kept>();
  #keptBytes = 0;

  private constructor(runDir: string, positions: LinePositions) {
    this.#logDir = join(runDir, RUN_FILES.log);
    this.#positions = positions;
  }

  /** Rejects with the system's error when there is no room for the temporary file. */
  static async open(runDir: string): Promise<Originals> {
    return new Originals(runDir, await LinePositions.create());
  }

  /** To be called in ascending seq. A promise only when there is something to wait for. */
  add(seq: number, position: LinePosition): Promise<void> | undefined {
    return this.#positions.add(seq, position);
  }

  /**
   * The lines of those seqs, in any order, that were added. Failure('internal') when a line is no longer what it was when
   * it was added.
   */
  async find(seqs: Iterable<number>): Promise<ReadonlyMap<number, LogLine>> {
    const found = new Map<number, LogLine>();
    const missing = new Set<number>();
    for (const seq of seqs) {
      const kept = this.#kept.get(seq);
      if (kept === undefined) missing.add(seq);
      else this.#keep(seq, kept);
      if (kept !== undefined) found.set(seq, kept.line);
    }
    const wanted = [...missing].sort((a, b) => a - b);
    const positions = await this.#positions.find(wanted);
    const bySegment = new Map<string, { seq: number; offset: number; bytes: number }[]>();
    for (const [index, position] of positions.entries()) {
      if (position === null) continue;
      const { segment, offset, bytes } = position;
      const lines = bySegment.get(segment) ?? [];
      lines.push({ seq: wanted[index]!, offset, bytes });
      bySegment.set(segment, lines);
    }
    for (const [segment, lines] of bySegment) {
      lines.sort((a, b) => a.offset - b.offset);
      const texts = await readSpans(await this.#segment(segment), lines);
      for (const [index, { seq, bytes }] of lines.entries()) {
        const line = this.#parsed(segment, seq, texts[index]!);
        found.set(seq, line);
        this.#keep(seq, { line, bytes });
      }
    }
    return found;
  }

  async close(): Promise<void> {
    for (const file of this.#segments.values()) await file.close();
    this.#segments.clear();
    await this.#positions.close();
  }

  #parsed(segment: string, seq: number, bytes: Buffer | null): LogLine {
    const changed = `log/${segment}: the outcome of item ${seq} changed while it was being read`;
    if (bytes === null) throw new Failure('internal', changed);
    let line: LogLine;
    try {
      line = JSON.parse(bytes.toString()) as LogLine;
    } catch (cause) {
      throw new Failure('internal', changed, { cause });
    }
    if (line.seq !== seq) throw new Failure('internal', changed);
    return line;
  }

  #keep(seq: number, kept: Kept): void {
    if (!this.#kept.delete(seq)) this.#keptBytes += kept.bytes;
    this.#kept.set(seq, kept);
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT && this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= bytes;
    }
  }

  async #segment(name: string): Promise<FileHandle> {
    let file = this.#segments.get(name);
    if (file === undefined) {
      for (const [oldest, other] of this.#segments) {
        if (this.#segments.size < MAX_OPEN_SEGMENTS) break;
        this.#segments.delete(oldest);
        await other.close();
      }
      file = await openFile(join(this.#logDir, name), 'refuse');
      this.#segments.set(name, file);
    }
    return file;
  }
}
