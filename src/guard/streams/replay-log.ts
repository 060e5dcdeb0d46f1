import type { StreamFindings } from '../../domain/generation/generation-verdict.ts';
import type { Answer } from '../protocol/answer.ts';
import type { StreamVerdict } from '../tensors/stream/stream-messages.ts';
import type { VerdictArrival } from './generation-stream.ts';

/** Summarizes the verdicts on one replayed generation as they arrive. */
export class ReplayLog {
  readonly #chunks: number;
  #last: StreamVerdict | null = null;
  #firstCautionSeq: number | null = null;
  #firstFlaggedSeq: number | null = null;
  #lagChunks = 0;
  #lagMs = 0;
  #modelVersion: string | null = null;
  #versionsDiffer = false;

  /** `chunks` is the number of chunks in the whole generation, at least one. */
  constructor(chunks: number) {
    this.#chunks = chunks;
  }

  add({ verdict, modelVersion, lagChunks, lagMs }: VerdictArrival): void {
    if (this.#last !== null && modelVersion !== this.#modelVersion) this.#versionsDiffer = true;
    this.#modelVersion = modelVersion;
    this.#last = verdict;
    // A verdict may also cover the closing message, which has its own seq.
    const seq = Math.min(verdict.processedUntilSeq, this.#chunks - 1);
    if (verdict.needsCaution) this.#firstCautionSeq ??= seq;
    if (verdict.flagged) this.#firstFlaggedSeq ??= seq;
    this.#lagChunks = Math.max(this.#lagChunks, lagChunks);
    this.#lagMs = Math.max(this.#lagMs, lagMs);
  }

  /** The version that gave all verdicts; null when they differ or name none. */
  get modelVersion(): string | null {
    return this.#versionsDiffer ? null : this.#modelVersion;
  }

  /**
   * The answer after the final verdict, flagged if any verdict was. Null if the final verdict has no score, which a
   * recorded verdict needs.
   */
  answer(): Answer | null {
    const final = this.#last;
    if (final === null || final.score === null) return null;
    const stream: StreamFindings = {
      judgedChunks: Math.min(final.processedUntilSeq + 1, this.#chunks),
      firstCautionSeq: this.#firstCautionSeq,
      firstFlaggedSeq: this.#firstFlaggedSeq,
      lagChunks: this.#lagChunks,
      lagMs: Math.round(this.#lagMs * 100) / 100,
    };
    return {
      score: final.score,
      flagged: final.flagged || this.#firstFlaggedSeq !== null,
      subcategoryScores: null,
      subcategoryFlags: null,
      cacheUsage: null,
      stream,
    };
  }
}
