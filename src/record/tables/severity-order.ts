import type { FileHandle } from 'node:fs/promises';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { writeAt } from '../../files/durable-write.ts';
import { openUnnamedFile } from '../../files/unnamed-file.ts';
import { SortedRun } from './sorted-run.ts';

/** Lines held until they are sorted and written, by their size in the log. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Sorted runs that are merged at a time. */
const MAX_RUNS = 32;
/** Lines per batch. */
const BATCH_LINES = 256;

/** Runs of one size, one after the other in a temporary file. */
interface Level {
  readonly file: FileHandle;
  runs: { readonly start: number; readonly end: number }[];
  end: number;
}

type Batches = AsyncIterable<readonly OutcomeLine[]> | Iterable<readonly OutcomeLine[]>;

/** The severest first: block before review, then the highest score, then the lowest seq. */
function bySeverity(a: OutcomeLine, b: OutcomeLine): number {
  if (a.decision !== b.decision) return a.decision === 'block' ? -1 : 1;
  return (b.score ?? 0) - (a.score ?? 0) || a.seq - b.seq;
}

/**
 * Sorts any number of flagged outcomes by severity in temporary files: sorted runs of some thousand lines, each 32 of
 * which are merged into a larger one. Memory: 8 MiB of lines, and 64 KiB for each run that is merged.
 */
export class SeverityOrder {
  readonly #maxHeldBytes: number;
  #held: OutcomeLine[] = [];
  #heldBytes = 0;
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

  /** `bytes`: size of the line in the log. Rejects with the system's error when there is no room for temporary files. */
  async add(line: OutcomeLine, bytes: number): Promise<void> {
    this.#held.push(line);
    this.#heldBytes += bytes;
    this.#count++;
    if (this.#heldBytes < this.#maxHeldBytes) return;
    await this.#write(0, [this.#takeHeld()]);
  }

  /** All lines, in batches. To be called once, after the last `add`. */
  async *lines(signal: AbortSignal): AsyncGenerator<readonly OutcomeLine[], void> {
    const runs = this.#levels.flatMap(({ file, runs }) => runs.map((span) => SortedRun.stored(file, span)));
    yield* merged([...runs, SortedRun.held(this.#takeHeld())], signal);
  }

  async close(): Promise<void> {
    for (const { file } of this.#levels) await file.close();
    this.#levels.length = 0;
    this.#held = [];
  }

  #takeHeld(): OutcomeLine[] {
    const lines = this.#held.sort(bySeverity);
    this.#held = [];
    this.#heldBytes = 0;
    return lines;
  }

  /** Appends a run to a level, after merging the runs of a level that is full into one of the next. */
  async #write(number: number, batches: Batches): Promise<void> {
    const level = (this.#levels[number] ??= { file: await openUnnamedFile(), runs: [], end: 0 });
    if (level.runs.length === MAX_RUNS) {
      const runs = level.runs.map((span) => SortedRun.stored(level.file, span));
      await this.#write(number + 1, merged(runs));
      await level.file.truncate(0);
      level.runs = [];
      level.end = 0;
    }
    const start = level.end;
    for await (const lines of batches) {
      const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      await writeAt(level.file, bytes, level.end);
      level.end += bytes.length;
    }
    level.runs.push({ start, end: level.end });
  }
}

/** The lines of sorted runs in order, in batches. */
async function* merged(
  runs: readonly SortedRun[],
  signal?: AbortSignal,
): AsyncGenerator<readonly OutcomeLine[], void> {
  /** Runs with lines left, by their first lines. */
  const left: SortedRun[] = [];
  for (const run of runs) if (await run.hasNext()) insert(left, run);
  let batch: OutcomeLine[] = [];
  while (left.length > 0) {
    const run = left.shift()!;
    batch.push(run.take());
    if (await run.hasNext()) insert(left, run);
    if (batch.length < BATCH_LINES) continue;
    signal?.throwIfAborted();
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** By binary search. */
function insert(runs: SortedRun[], run: SortedRun): void {
  let from = 0;
  let to = runs.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (bySeverity(runs[middle]!.next, run.next) < 0) from = middle + 1;
    else to = middle;
  }
  runs.splice(from, 0, run);
}
