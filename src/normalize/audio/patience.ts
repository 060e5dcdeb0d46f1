import { TimeLimit, type Excess } from '../process/time-limit.ts';
import type { FfmpegProcess } from './ffmpeg-process.ts';

/** How long a decoder may take: a base, and more for what it has decoded. */
export interface DecodeTime {
  /** Of processor time. */
  readonly baseMs: number;
  readonly perAudioSecondMs: number;
  /** How many times as long it may take by the clock. */
  readonly byTheClock: number;
}

/** A core decodes a minute of sound in about 0.1 s, or less: what takes a hundred times as long is made to. */
export const DECODE_TIME: DecodeTime = { baseMs: 30_000, perAudioSecondMs: 200, byTheClock: 20 };

/**
 * Ends a decoder that has taken more than its due. Time in which the decoder waits for us does not count: a guard
 * that is away must not make a clip a bad one.
 */
export class DecodeDeadline {
  readonly #time: DecodeTime;
  readonly #limit: TimeLimit;

  constructor(time: DecodeTime, { processorMs, kill }: Pick<FfmpegProcess, 'processorMs' | 'kill'>) {
    this.#time = time;
    this.#limit = new TimeLimit(processorMs, kill);
  }

  /** Of what the decoder took too much; null when it did not. */
  get lost(): Excess | null {
    return this.#limit.excess;
  }

  /** Waits for something that the decoder, `decodedSeconds` into the clip, is to do next. */
  async wait<T>(next: Promise<T>, decodedSeconds: number): Promise<T> {
    const { baseMs, perAudioSecondMs, byTheClock } = this.#time;
    const processorMs = baseMs + perAudioSecondMs * decodedSeconds;
    this.#limit.resume({ processorMs, wallMs: processorMs * byTheClock });
    try {
      return await next;
    } finally {
      this.#limit.pause();
    }
  }
}
