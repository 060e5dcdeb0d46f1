import { TimeLimit, type Excess } from '../../confinement/time-limit.ts';
import type { FfmpegProcess } from './ffmpeg-process.ts';

/** Time limit of a decoder: a base, plus a share of what it has decoded so far. */
export interface DecodeTime {
  /** Processor time. */
  readonly baseMs: number;
  readonly perAudioSecondMs: number;
  /** Wall-clock limit as a multiple of the limit of processor time. */
  readonly wallFactor: number;
}

/** A core decodes a minute of sound in 0.1 s or less. A file that takes a hundred times as long was made to. */
export const DECODE_TIME: DecodeTime = { baseMs: 30_000, perAudioSecondMs: 200, wallFactor: 20 };

/**
 * Kills a decoder that exceeds its time limit. Time in which the decoder waits for this process does not count: a clip
 * must not fail because the guard is away.
 */
export class DecodeDeadline {
  readonly #time: DecodeTime;
  readonly #limit: TimeLimit;

  constructor(time: DecodeTime, { processorMs, kill }: Pick<FfmpegProcess, 'processorMs' | 'kill'>) {
    this.#time = time;
    this.#limit = new TimeLimit(processorMs, kill);
  }

  /** The limit that the decoder exceeded; null if none. */
  get exceeded(): Excess | null {
    return this.#limit.excess;
  }

  /** Waits for the decoder's next result, with the limit for a clip decoded up to `decodedSeconds`. */
  async wait<T>(next: Promise<T>, decodedSeconds: number): Promise<T> {
    const { baseMs, perAudioSecondMs, wallFactor } = this.#time;
    const processorMs = baseMs + perAudioSecondMs * decodedSeconds;
    this.#limit.resume({ processorMs, wallMs: processorMs * wallFactor });
    try {
      return await next;
    } finally {
      this.#limit.pause();
    }
  }
}
