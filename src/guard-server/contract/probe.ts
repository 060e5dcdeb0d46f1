import type { GuardRequest } from '../../domain/request.ts';
import type { ContractCode } from './request-error.ts';

/** What a probe says of one content. */
export interface ProbeScores {
  /** Probability that the content is hazardous: 0 … 1. */
  readonly score: number;
  /** The probe's own decision. */
  readonly flagged: boolean;
  /** Probability by category, in the order of the taxonomy; NaN for a category that nothing here looks for. */
  readonly categories: Float32Array;
  /** Decision by category, in the order of the taxonomy. */
  readonly categoryFlags: readonly boolean[];
}

/** Why a content gets no verdict. */
export interface ProbeRefusal {
  readonly refusal: ContractCode;
  /** In the probe's own words, never in the content's or a decoder's. */
  readonly text: string;
}

/** Something that judges contents. Its scores depend on the content and nothing else. */
export interface Probe {
  /** SHA-256 in hex of each artifact the probe was made from, by name: what a `version` request is answered with. */
  readonly artifacts: Readonly<Record<string, string>>;
  judge(content: GuardRequest): Promise<ProbeScores | ProbeRefusal> | ProbeScores | ProbeRefusal;
}
