import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Failure } from '../../domain/failure.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { openFile } from '../../files/open-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readSpans } from '../../files/read-fully.ts';
import { LinePositions } from './line-positions.ts';
import { parseOutcomeLine } from '../../record/outcomes/outcome-schema.ts';
import { MAX_LINE_BYTES } from '../../analysis/verdict-columns.ts';

const READ_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
/** Every line begins like this; names of runs are short. */
const LINE_START = /^\{"schema":1,"run":"[^"\\]{1,200}","seq":(\d{1,15}),/;
const LINE_START_BYTES = 256;

/** Maximum lines read at once. */
const READ_LINES = 256;

/**
 * The outcome lines in a file of a run, by seq. The file stays open, so lines come from the file that was scanned even
 * if its path is replaced later. Memory: a buffer of 4 MiB during the scan, plus that of LinePositions.
 */
export class LinesBySeq {
  readonly #file: FileHandle;
  readonly #positions: LinePositions;
  #bytes = 0;
  #lastSeq = -1;

  private constructor(file: FileHandle, positions: LinePositions) {
    this.#file = file;
    this.#positions = positions;
  }

  /**
   * Reads the whole file once. `sha256` is its hash in hex, or null if it was verified already. Failure('internal') if
   * its hash differs, or if a line does not begin as one of a run or is out of order.
   */
  static async scan(path: string, sha256: string | null, signal: AbortSignal): Promise<LinesBySeq> {
    const file = await openFile(path, 'refuse');
    let positions: LinePositions | null = null;
    try {
      positions = await LinePositions.create();
      const lines = new LinesBySeq(file, positions);
      await lines.#scan(sha256, signal);
      return lines;
    } catch (error) {
      await positions?.close();
      await file.close();
      throw error;
    }
  }

  /**
   * Returns the lines of those seqs that are in the file, in ascending order. Failure('internal') for a malformed line.
   */
  async read(seqs: readonly number[]): Promise<OutcomeLine[]> {
    const ascending = [...new Set(seqs)].sort((a, b) => a - b);
    const found: OutcomeLine[] = [];
    for (let from = 0; from < ascending.length; from += READ_LINES) {
      const positions = await this.#positions.find(ascending.slice(from, from + READ_LINES));
      const spans = positions.filter((position) => position !== null);
      for (const text of await readSpans(this.#file, spans)) found.push(parsed(text));
    }
    return found;
  }

  async close(): Promise<void> {
    await this.#positions.close();
    await this.#file.close();
  }

  async #scan(sha256: string | null, signal: AbortSignal): Promise<void> {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(MAX_LINE_BYTES);
    // The buffer begins with the incomplete line.
    let filled = 0;
    let lineAt = 0;
    for (;;) {
      signal.throwIfAborted();
      const space = Math.min(READ_BYTES, buffer.length - filled);
      if (space === 0) throw noOutcome();
      const { bytesRead } = await this.#file.read(buffer, filled, space, this.#bytes);
      if (bytesRead === 0) break;
      const read = buffer.subarray(filled, filled + bytesRead);
      hash.update(read);
      this.#bytes += bytesRead;
      const from = filled;
      filled += bytesRead;
      let start = 0;
      for (let end = read.indexOf(NEWLINE); end !== -1; end = read.indexOf(NEWLINE, end + 1)) {
        const next = from + end + 1;
        const turned = this.#add(buffer.subarray(start, next), lineAt + start);
        if (turned !== undefined) await turned;
        start = next;
      }
      buffer.copy(buffer, 0, start, filled);
      filled -= start;
      lineAt += start;
    }
    if (sha256 !== null && hash.digest('hex') !== sha256) {
      throw new Failure(
        'internal',
        `${RUN_FILES.verdicts} does not have the hash that ${RUN_FILES.manifest} names`,
      );
    }
    if (filled > 0) throw noOutcome();
  }

  /** Returns a promise only if there is something to wait for. */
  #add(line: Buffer, offset: number): Promise<void> | undefined {
    const seq = Number(LINE_START.exec(line.toString('latin1', 0, LINE_START_BYTES))?.[1] ?? -1);
    if (seq <= this.#lastSeq) throw noOutcome();
    this.#lastSeq = seq;
    return this.#positions.add(seq, { offset, bytes: line.length });
  }
}

function parsed(text: Buffer | null): OutcomeLine {
  try {
    return parseOutcomeLine(text!.toString());
  } catch (cause) {
    throw noOutcome(cause);
  }
}

function noOutcome(cause?: unknown): Failure {
  return new Failure(
    'internal',
    'the outcomes of the run have a line that is not an outcome, or is out of order',
    {
      cause,
    },
  );
}
