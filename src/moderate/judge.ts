import type { Fingerprint } from '../domain/fingerprint.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { ItemError } from '../domain/item-error.ts';
import type { GuardRequest, MediaKind } from '../domain/request.ts';

/** What judging needs of the guards. */
export interface Judge {
  /** Outcome i belongs to request i. Rejects only when no guard can be had, or on abort. */
  judge(
    requests: readonly GuardRequest[],
    options: {
      readonly session: string;
      readonly signal: AbortSignal;
      /** The endpoint that should judge them if it can, because it judged what belongs with them; null: any. */
      readonly endpoint?: string | null;
    },
  ): Promise<readonly Outcome[]>;
  /**
   * Why no guard judges media of this kind, so that they need not be decoded; null when one does, or may. A judge that
   * knows nothing of it leaves this out. Rejects with the signal's reason.
   */
  notJudged?(kind: MediaKind, signal: AbortSignal): Promise<ItemError | null>;
  /** In full, every fingerprint an outcome may name. */
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
}
