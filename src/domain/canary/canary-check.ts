import type { ItemCode } from '../item-error.ts';
import type { Modality } from '../request.ts';

/** The verdict expected for a canary. */
export type Expected = 'flagged' | 'allowed';

export const EXPECTED: readonly Expected[] = ['flagged', 'allowed'];

/** A guard's reply to one canary, which is content with a known verdict. */
export interface CanaryAnswer {
  readonly name: string;
  readonly expected: Expected;
  /** `score` and `flagged` are null if the guard gave no verdict. */
  readonly score: number | null;
  readonly flagged: boolean | null;
  /** Whether the answer is as expected; null for a canary that the guard has no probe for, which was skipped. */
  readonly passed: boolean | null;
  /** Why the guard gave no verdict; null when it gave one. */
  readonly error: ItemCode | null;
}

/** One check of one model with the canaries of a modality. Only checks that were passed are recorded. */
export interface CanaryCheck {
  /** The name that outcomes use. */
  readonly endpoint: string;
  /** Id of the fingerprint that the guard had before and after; null for a guard that reports none. */
  readonly fingerprint: string | null;
  readonly modality: Modality;
  /** SHA-256 of the file that the canaries come from, 64 hex digits; null for the built-in ones. */
  readonly file: string | null;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly answers: readonly CanaryAnswer[];
}

/** A key that is unique to each check. */
export function checkKey({ endpoint, fingerprint, modality, at }: CanaryCheck): string {
  return `${at} ${modality} ${fingerprint} ${endpoint}`;
}
