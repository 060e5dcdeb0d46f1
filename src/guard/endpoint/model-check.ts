import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import type { Modality } from '../../domain/request.ts';
import type { CallOptions, CheckedGuard, ReadyGuard } from '../protocol/connection.ts';
import { NotUsable } from '../protocol/not-usable.ts';

/** Finds out whether the model behind an endpoint may be trusted with a modality, before it judges anything. */
export interface ModelCheck {
  /**
   * Resolves with the id of the fingerprint that the guard had before and after its answers; null for a guard that
   * reports none. Rejects with `NotUsable` when the guard did not answer, a Failure when it must not judge, or the
   * signal's reason.
   */
  check(
    guard: CheckedGuard,
    of: { readonly endpoint: string; readonly modality: Modality },
    options: CallOptions,
  ): Promise<string | null>;
  /** The last check that each model has passed in each modality, oldest first. */
  readonly checks: readonly CanaryCheck[];
}

/** The checks that the model of one endpoint has passed, by modality. */
export class EndpointChecks {
  readonly #endpoint: string;
  readonly #check: ModelCheck | null;
  readonly #wanted: ReadonlySet<Modality>;
  #model: string | null = null;
  readonly #passed = new Set<Modality>();

  /** `check` is null when models are not checked. `wanted` has the modalities to check, to which more may be added. */
  constructor(endpoint: string, check: ModelCheck | null, wanted: ReadonlySet<Modality>) {
    this.#endpoint = endpoint;
    this.#check = check;
    this.#wanted = wanted;
  }

  /** Whether a model may be used, as far as is known now. `model` is the id of its fingerprint. */
  isPassed(model: string | null): boolean {
    if (this.#check === null) return true;
    return model === this.#model && [...this.#wanted].every((modality) => this.#passed.has(modality));
  }

  /** Makes the checks that this model has not passed yet. Rejects as `ModelCheck.check` does. */
  async pass(guard: ReadyGuard, model: string | null, options: CallOptions): Promise<void> {
    if (this.#check === null) return;
    if (model !== this.#model) this.#passed.clear();
    this.#model = model;
    for (const modality of this.#wanted) {
      if (this.#passed.has(modality)) continue;
      const found = await this.#check.check(guard, { endpoint: this.#endpoint, modality }, options);
      if (found !== model) throw new NotUsable('model changed', false);
      this.#passed.add(modality);
    }
  }

  /**
   * Repeats the passed checks. Rejects with the Failure of a model that does not pass now. A guard that gives no answer
   * is left to the requests for items, which find out whether it is down.
   */
  async repeat(guard: ReadyGuard, options: CallOptions): Promise<void> {
    if (this.#check === null) return;
    for (const modality of [...this.#passed]) {
      try {
        await this.#check.check(guard, { endpoint: this.#endpoint, modality }, options);
      } catch (error) {
        if (!(error instanceof NotUsable)) throw error;
      }
    }
  }
}
