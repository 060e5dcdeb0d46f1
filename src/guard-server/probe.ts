import { type GuardRequest } from '../domain/request.ts';

/** What a probe says of one content. */
export interface ProbeScores {
  /** Probability that the content is hazardous: 0 … 1. */
  readonly score: number;
  /** The probe's own decision. */
  readonly flagged: boolean;
  /** Probability by category, in the order of the taxonomy. */
  readonly categories: Float32Array;
  /** Decision by category, in the order of the taxonomy. */
  readonly categoryFlags: readonly boolean[];
}

/** Something that judges text, alone or as a conversation. Its scores depend on the content and nothing else. */
export interface TextProbe {
  /** SHA-256 in hex of each artifact the probe was made from, by name: what a `version` request is answered with. */
  readonly artifacts: Readonly<Record<string, string>>;
  judge(content: GuardRequest): ProbeScores;
}
