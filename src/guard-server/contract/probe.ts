import type { UnaryRequest } from '../../domain/request.ts';
import type { ContractCode } from './request-error.ts';

/** A probe's scores for one item of content. */
export interface ProbeScores {
  /** Probability that the content is hazardous, 0 to 1. */
  readonly score: number;
  /** The probe's own decision. */
  readonly flagged: boolean;
  /** Probability per category, in taxonomy order; NaN for a category that the probe does not detect. */
  readonly categories: Float32Array;
  /** Decision per category, in taxonomy order. */
  readonly categoryFlags: readonly boolean[];
}

/** The reason why content gets no verdict. */
export interface ProbeRefusal {
  readonly refusal: ContractCode;
  /** Never quotes the content or a decoder. */
  readonly text: string;
}

/** Judges contents. Scores depend only on the content. */
export interface Probe {
  /** SHA-256 in hex of each artifact of the probe, by name: the answer to a `version` request. */
  readonly artifacts: Readonly<Record<string, string>>;
  judge(content: UnaryRequest): Promise<ProbeScores | ProbeRefusal> | ProbeScores | ProbeRefusal;
}
