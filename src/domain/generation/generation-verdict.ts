import { codePoints } from '../coverage.ts';

/** The verdicts of one stream and their timing. Each seq is the index of a chunk. */
export interface StreamFindings {
  /** Number of chunks up to the last `processed_until_seq`. */
  readonly judgedChunks: number;
  /** `processed_until_seq` of the first verdict with `needs_caution`; null if there is none. */
  readonly firstCautionSeq: number | null;
  /** `processed_until_seq` of the first verdict with `flagged`; null if there is none. */
  readonly firstFlaggedSeq: number | null;
  /** Maximum lag of verdicts: chunks that were sent but not covered when a verdict arrived. */
  readonly lagChunks: number;
  /** The longest time from sending a chunk to the verdict that covers it, in milliseconds. */
  readonly lagMs: number;
}

/** The verdicts on one generation, measured against its whole response. */
export interface GenerationVerdict extends StreamFindings {
  readonly chunks: number;
  /**
   * Fraction of the response's code points up to and including that chunk, from 0 to 1, to four decimals; null if there
   * is none.
   */
  readonly shareAtCaution: number | null;
  readonly shareAtFlag: number | null;
}

/** Converts the findings of a stream to fractions of the replayed response. */
export function generationVerdict(chunks: readonly string[], findings: StreamFindings): GenerationVerdict {
  const total = codePoints(chunks.join(''));
  const shareUpTo = (seq: number | null): number | null =>
    seq === null ? null : toFourDecimals(codePoints(chunks.slice(0, seq + 1).join('')) / total);
  return {
    ...findings,
    chunks: chunks.length,
    shareAtCaution: shareUpTo(findings.firstCautionSeq),
    shareAtFlag: shareUpTo(findings.firstFlaggedSeq),
  };
}

function toFourDecimals(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
