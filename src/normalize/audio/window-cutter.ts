import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES, writeWavHeader } from './wav.ts';

/** What a guard hears of a clip in one request: it pads shorter ones with silence and drops what lies behind. */
export const WINDOW_SECONDS = 300;
export const WINDOW_BYTES = WINDOW_SECONDS * SAMPLE_RATE * BYTES_PER_SAMPLE;

/** One piece of a clip in normal form. */
export interface AudioWindow {
  /** Where it begins in the clip. */
  readonly startSeconds: number;
  /** More than 0, at most 300. */
  readonly seconds: number;
  /** A whole WAV file: 16 kHz, mono, 16 bits. */
  readonly wav: Buffer;
}

const seconds = (bytes: number): number => bytes / BYTES_PER_SAMPLE / SAMPLE_RATE;

/**
 * Cuts a stream of samples into windows that follow each other without gap or overlap. Holds one window at most;
 * `windows` bounds how many are made, what comes after them is only counted. The first `given` of them are counted and
 * not given out: the same stream was cut before, and broke off.
 */
export class WindowCutter {
  readonly #windows: number;
  readonly #given: number;
  #made = 0;
  #window: Buffer | null = null;
  #filled = 0;
  #taken = 0;

  constructor(windows: number, given = 0) {
    this.#windows = windows;
    this.#given = given;
  }

  /** How many windows were made, those that were given out before among them. */
  get made(): number {
    return this.#made;
  }

  /** Seconds taken in so far. */
  get totalSeconds(): number {
    return seconds(this.#wholeSamples());
  }

  /** Seconds in the windows given out. */
  get cutSeconds(): number {
    return Math.min(this.totalSeconds, this.#made * WINDOW_SECONDS);
  }

  /** Takes samples in, which may end within one, and gives out each window that they complete. */
  *take(chunk: Buffer): Generator<AudioWindow, void, void> {
    for (let from = 0; from < chunk.length;) {
      if (this.#made === this.#windows) {
        this.#taken += chunk.length - from;
        return;
      }
      // memory of an allocated buffer that is never written to costs nothing: most clips are far shorter
      this.#window ??= Buffer.allocUnsafeSlow(WAV_HEADER_BYTES + WINDOW_BYTES);
      const copied = chunk.copy(this.#window, WAV_HEADER_BYTES + this.#filled, from);
      from += copied;
      this.#filled += copied;
      this.#taken += copied;
      if (this.#filled < WINDOW_BYTES) continue;
      const window = this.#close(this.#window, WINDOW_BYTES);
      if (this.#made > this.#given) yield window;
    }
  }

  /** The samples that have not filled a window; null when there are none. */
  rest(): AudioWindow | null {
    const filled = this.#filled - (this.#filled % BYTES_PER_SAMPLE);
    if (this.#window === null || filled === 0) return null;
    // a copy, so that a short clip does not keep the memory of a long one
    return this.#close(Buffer.from(this.#window.subarray(0, WAV_HEADER_BYTES + filled)), filled);
  }

  #close(wav: Buffer, dataBytes: number): AudioWindow {
    writeWavHeader(wav, dataBytes);
    const startSeconds = this.#made * WINDOW_SECONDS;
    this.#made++;
    this.#window = null;
    this.#filled = 0;
    return { startSeconds, seconds: seconds(dataBytes), wav };
  }

  #wholeSamples(): number {
    return this.#taken - (this.#taken % BYTES_PER_SAMPLE);
  }
}
