import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES } from '../../domain/normalization.ts';

/**
 * Writes the canonical 44-byte RIFF header of 16 kHz mono PCM to the beginning of `wav`, followed by `dataBytes` of
 * samples. ffmpeg's own header is unsuitable: it lacks the size when ffmpeg writes to a pipe, and it names its version.
 */
export function writeWavHeader(wav: Buffer, dataBytes: number): void {
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16); // bytes of the format chunk
  wav.writeUInt16LE(1, 20); // PCM
  wav.writeUInt16LE(1, 22); // channels
  wav.writeUInt32LE(SAMPLE_RATE, 24);
  wav.writeUInt32LE(SAMPLE_RATE * BYTES_PER_SAMPLE, 28); // bytes per second
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32); // bytes per frame (all channels)
  wav.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34); // bits per sample
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(dataBytes, 40);
}

/**
 * Length of audio that a guard judges per request. It pads shorter clips with silence and drops the rest of longer
 * ones.
 */
const WINDOW_SECONDS = 300;
export const WINDOW_BYTES = WINDOW_SECONDS * SAMPLE_RATE * BYTES_PER_SAMPLE;

/** One part of an audio clip in normalized format. */
export interface AudioWindow {
  /** Position in the clip. */
  readonly startSeconds: number;
  /** Greater than 0, at most 300. */
  readonly seconds: number;
  /** A whole WAV file: 16 kHz, mono, 16 bits. */
  readonly wav: Buffer;
}

const seconds = (bytes: number): number => bytes / BYTES_PER_SAMPLE / SAMPLE_RATE;

/**
 * Cuts a stream of samples into consecutive windows without gaps or overlap. Holds at most one window. Makes at most
 * `windows` windows; later samples are only counted. The first `given` windows are counted but not returned: they were
 * returned before the same stream broke off.
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

  /** Windows made so far, including those that were returned before. */
  get made(): number {
    return this.#made;
  }

  /** Seconds of samples received so far. */
  get totalSeconds(): number {
    return seconds(this.#wholeSamples());
  }

  /** Seconds of samples in windows. */
  get cutSeconds(): number {
    return Math.min(this.totalSeconds, this.#made * WINDOW_SECONDS);
  }

  /** Adds samples, the last of which may be incomplete, and yields each full window. */
  *take(chunk: Buffer): Generator<AudioWindow, void, void> {
    for (let from = 0; from < chunk.length;) {
      if (this.#made === this.#windows) {
        this.#taken += chunk.length - from;
        return;
      }
      // unwritten memory costs nothing: most clips are far shorter
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

  /** A window of the remaining samples; null if there are none. */
  rest(): AudioWindow | null {
    const filled = this.#filled - (this.#filled % BYTES_PER_SAMPLE);
    if (this.#window === null || filled === 0) return null;
    // a copy, so a short clip does not keep the memory of a long one
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
