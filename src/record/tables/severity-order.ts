import type { FileHandle } from 'node:fs/promises';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { writeAt } from '../../files/durable-write.ts';
import { openUnnamedFile } from '../../files/unnamed-file.ts';
import { TextBuffer } from '../../files/text-buffer.ts';
import { SortedRun, type SortedLine } from './sorted-run.ts';

/** Lines held until they are sorted and written. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Initial capacity for them: enough for most runs. */
const LIKELY_BYTES = 64 * 1024;
/** Sorted runs that are merged at a time: enough for 2 GiB of lines, which are then written once. */
const MAX_RUNS = 256;
/** Lines per batch. */
const BATCH_LINES = 256;

/** Runs of one size, one after the other in a temporary file. */
interface Level {
  readonly file: FileHandle;
  runs: { readonly start: number; readonly end: number }[];
  end: number;
}

/** What places a line. */
type Severity = Pick<OutcomeLine, 'decision' | 'score' | 'seq'>;

/** A line that is held: its bytes, with the newline, are `[start, end)`. */
interface HeldLine extends Severity {
  readonly start: number;
  readonly end: number;
}

/** The severest first: block before review, then the highest score, then the lowest seq. */
function bySeverity(a: Severity, b: Severity): number {
  if (a.decision !== b.decision) return a.decision === 'block' ? -1 : 1;
  return (b.score ?? 0) - (a.score ?? 0) || a.seq - b.seq;
}

/**
 * Sorts any number of flagged outcomes by severity in temporary files: sorted runs of some thousand lines, each 256 of
 * which are merged into a larger one. Memory: 8 MiB of lines, and 64 KiB for each run that is merged.
 */
export class SeverityOrder {
  readonly #maxHeldBytes: number;
  #held: HeldLine[] = [];
  readonly #heldBytes = new TextBuffer(LIKELY_BYTES);
  #count = 0;
  readonly #levels: Level[] = [];

  /** `maxHeldBytes`: of the lines that are held in memory. */
  constructor(maxHeldBytes = MAX_HELD_BYTES) {
    this.#maxHeldBytes = maxHeldBytes;
  }

  /** Number of lines that were added. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds a line, whose `bytes` are its JSON with a newline; they are copied. Rejects with the system's error when there is no
   * room for temporary files.
   */
  async add({ decision, score, seq }: Severity, bytes: Buffer): Promise<void> {
    const start = this.#heldBytes.length;
    this.#heldBytes.add(bytes);
    this.#held.push({ decision, score, seq, start, end: start + bytes.length });
    this.#count++;
    if (this.#heldBytes.length >= this.#maxHeldBytes) await this.#addRun(0, [this.#takeHeld()]);
  }

  /** All lines, in batches. To be called once, after the last `add`. */
  async *lines(signal: AbortSignal): AsyncGenerator<readonly OutcomeLine[], void> {
    const runs = this.#levels.flatMap(({ file, runs }) => runs.map((span) => SortedRun.stored(file, span)));
    const held = SortedRun.held(this.#takeHeld());
    for await (const batch of merged([...runs, held], signal)) yield batch.map(({ line }) => line);
  }

  async close(): Promise<void> {
    for (const { file } of this.#levels) await file.close();
    this.#levels.length = 0;
    this.#held = [];
  }

  /** The bytes of the held lines in order, which are held no longer. */
  #takeHeld(): Buffer {
    const bytes = this.#heldBytes.take();
    const lines = this.#held.sort(bySeverity).map(({ start, end }) => bytes.subarray(start, end));
    const sorted = Buffer.concat(lines);
    this.#held = [];
    this.#heldBytes.clear();
    return sorted;
  }

  /** Adds a run to a level, after merging the runs of a level that is full into one of the next. */
  async #addRun(number: number, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    const level = (this.#levels[number] ??= { file: await openUnnamedFile(), runs: [], end: 0 });
    if (level.runs.length === MAX_RUNS) {
      const runs = level.runs.map((span) => SortedRun.stored(level.file, span));
      await this.#addRun(number + 1, bytesOf(merged(runs)));
      await level.file.truncate(0);
      level.runs = [];
      level.end = 0;
    }
    const start = level.end;
    for await (const bytes of pieces) {
      await writeAt(level.file, bytes, level.end);
      level.end += bytes.length;
    }
    level.runs.push({ start, end: level.end });
  }
}

async function* bytesOf(batches: AsyncIterable<readonly SortedLine[]>): AsyncGenerator<Buffer, void> {
  for await (const batch of batches) yield Buffer.concat(batch.map(({ bytes }) => bytes));
}

/** The lines of sorted runs in order, in batches. */
async function* merged(
  runs: readonly SortedRun[],
  signal?: AbortSignal,
): AsyncGenerator<readonly SortedLine[], void> {
  /** Runs with lines left, by their current lines. */
  const left: SortedRun[] = [];
  for (const run of runs) if (await run.advance()) insert(left, run);
  let batch: SortedLine[] = [];
  while (left.length > 0) {
    const run = left.shift()!;
    batch.push(run.current);
    if (await run.advance()) insert(left, run);
    if (batch.length < BATCH_LINES) continue;
    signal?.throwIfAborted();
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** By binary search. */
function insert(runs: SortedRun[], run: SortedRun): void {
  const { line } = run.current;
  let from = 0;
  let to = runs.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (bySeverity(runs[middle]!.current.line, line) < 0) from = middle + 1;
    else to = middle;
  }
  runs.splice(from, 0, run);
}
