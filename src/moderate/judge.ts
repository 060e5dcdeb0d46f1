import type { CanaryCheck } from '../domain/canary/canary-check.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { ItemError } from '../domain/item-error.ts';
import type { GuardRequest, MediaKind } from '../domain/request.ts';

/** The guards, as this room uses them. */
export interface Judge {
  /** Outcome i belongs to request i. Rejects only if no guard is available, or on abort. */
  judge(
    requests: readonly GuardRequest[],
    options: {
      readonly session: string;
      readonly signal: AbortSignal;
      /** The preferred endpoint, which judged other parts of the same item; null: any. */
      readonly endpoint?: string | null;
    },
  ): Promise<readonly Outcome[]>;
  /**
   * Why no guard judges media of this kind, so that they need not be decoded; null if a guard does, or may. Optional: a
   * judge that cannot know leaves it out. Rejects with the signal's reason.
   */
  notJudged?(kind: MediaKind, signal: AbortSignal): Promise<ItemError | null>;
  /** Every fingerprint that an outcome may name, by its id. */
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  /** The canary checks that its models passed before they judged; left out: none. */
  readonly canaries?: readonly CanaryCheck[];
}
