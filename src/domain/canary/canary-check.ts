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
  /** Whether the answer is as expected; null if the guard has no probe for the canary, so it was skipped. */
  readonly passed: boolean | null;
  /** Why the guard gave no verdict; null if it gave one. */
  readonly error: ItemCode | null;
}

/** One check of one model with the canaries of a modality. Only passed checks are recorded. */
export interface CanaryCheck {
  /** Name of the endpoint as in outcomes. */
  readonly endpoint: string;
  /** Fingerprint id that the guard had before and after the check; null for a guard that reports none. */
  readonly fingerprint: string | null;
  readonly modality: Modality;
  /** SHA-256 of the canary file, 64 hex digits; null for the built-in canaries. */
  readonly file: string | null;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly answers: readonly CanaryAnswer[];
}

/** A key that is unique to each check. */
export function checkKey({ endpoint, fingerprint, modality, at }: CanaryCheck): string {
  return `${at} ${modality} ${fingerprint} ${endpoint}`;
}
