/** How long a decoder may take: a base, and more for what it has decoded. */
export interface DecodeTime {
  readonly baseMs: number;
  readonly perAudioSecondMs: number;
}

/** A core decodes a minute of sound in about 0.1 s, or less: this is for machines that are a hundred times busier. */
export const DECODE_TIME: DecodeTime = { baseMs: 30_000, perAudioSecondMs: 200 };

/**
 * Counts the time spent waiting for a decoder, and calls `giveUp` once it is more than its due. Time in which the
 * decoder waits for us does not count: a guard that is away must not make a clip a bad one.
 */
export class Patience {
  readonly #time: DecodeTime;
  readonly #giveUp: () => void;
  #spentMs = 0;
  #lost = false;

  constructor(time: DecodeTime, giveUp: () => void) {
    this.#time = time;
    this.#giveUp = giveUp;
  }

  /** Whether it was called to give up. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Waits for something that the decoder, `decodedSeconds` into the clip, is to do next. */
  async wait<T>(next: Promise<T>, decodedSeconds: number): Promise<T> {
    const { baseMs, perAudioSecondMs } = this.#time;
    const fromMs = performance.now();
    const leftMs = Math.max(0, baseMs + perAudioSecondMs * decodedSeconds - this.#spentMs);
    const timer = setTimeout(() => {
      this.#lost = true;
      this.#giveUp();
    }, leftMs);
    try {
      return await next;
    } finally {
      clearTimeout(timer);
      this.#spentMs += performance.now() - fromMs;
    }
  }
}
