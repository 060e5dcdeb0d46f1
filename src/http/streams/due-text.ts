import type { Cadence } from '../../guard/tensors/stream/stream-messages.ts';

/** A point at which a verdict is due, with the text since the one before. */
export interface DuePoint {
  readonly text: string;
  readonly chunks: number;
  /** Sequence number of the last message up to here. */
  readonly seq: number;
  /** When it became due, by performance.now(). */
  readonly sinceMs: number;
  readonly isFinal: boolean;
}

/**
 * The text of a stream that has not been judged, cut where the cadence makes verdicts due: after every so many chunks, or
 * when `tick` says so. The points of a cadence in chunks depend on nothing but the chunks.
 */
export class DueText {
  readonly #cadence: Cadence;
  readonly #points: DuePoint[] = [];
  #chunks: string[] = [];
  #lastSeq = 0;
  /** Code units and chunks of all points and of the text that is not due. */
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

  /** Whether there is text that no point covers. */
  get hasUndue(): boolean {
    return this.#chunks.length > 0;
  }

  /** The oldest first. */
  get points(): readonly DuePoint[] {
    return this.#points;
  }

  /** Returns whether this chunk makes a verdict due. */
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

  /** Makes the final verdict due. `chunk`: the last text, or none; `seq`: of the message that ends the stream. */
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
