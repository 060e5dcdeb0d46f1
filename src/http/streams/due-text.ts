import type { Cadence } from '../../guard/tensors/stream/stream-messages.ts';

/** A point at which a verdict is due, with the text since the previous point. */
export interface DuePoint {
  readonly text: string;
  readonly chunks: number;
  /** Sequence number of the last message up to this point. */
  readonly seq: number;
  /** Time when it became due, by performance.now(). */
  readonly sinceMs: number;
  readonly isFinal: boolean;
}

/**
 * The unjudged text of a stream, cut where the cadence makes verdicts due: after a number of chunks, or when `tick` is
 * called. With a cadence in chunks, the points depend only on the chunks.
 */
export class DueText {
  readonly #cadence: Cadence;
  readonly #points: DuePoint[] = [];
  #chunks: string[] = [];
  #lastSeq = 0;
  /** Code units and chunks of all points and of the text that is not due yet. */
  #units = 0;
  #count = 0;

  constructor(cadence: Cadence) {
    this.#cadence = cadence;
  }

  get units(): number {
    return this.#units;
  }

  get chunks(): number {
    return this.#count;
  }

  /** Whether there is text after the last point. */
  get hasUndue(): boolean {
    return this.#chunks.length > 0;
  }

  /** The points, oldest first. */
  get points(): readonly DuePoint[] {
    return this.#points;
  }

  /** Adds a chunk. Returns whether it makes a verdict due. */
  add(chunk: string, seq: number): boolean {
    this.#keep(chunk, seq);
    const { unit, every } = this.#cadence;
    const isDue = unit === 'chunks' && this.#chunks.length >= every;
    if (isDue) this.#cut(seq, false);
    return isDue;
  }

  /** Makes all text due. */
  tick(): void {
    if (this.hasUndue) this.#cut(this.#lastSeq, false);
  }

  /**
   * Makes the final verdict due. `chunk` is the last text, if any, and `seq` that of the message that ends the stream.
   */
  end(chunk: string | null, seq: number): void {
    if (chunk !== null && chunk !== '') this.#keep(chunk, seq);
    this.#cut(seq, true);
  }

  /** Drops the oldest point, which has been judged. */
  shift(): void {
    const point = this.#points.shift()!;
    this.#units -= point.text.length;
    this.#count -= point.chunks;
  }

  #keep(chunk: string, seq: number): void {
    this.#chunks.push(chunk);
    this.#lastSeq = seq;
    this.#units += chunk.length;
    this.#count++;
  }

  #cut(seq: number, isFinal: boolean): void {
    const text = this.#chunks.join('');
    this.#points.push({ text, chunks: this.#chunks.length, seq, sinceMs: performance.now(), isFinal });
    this.#chunks = [];
  }
}
