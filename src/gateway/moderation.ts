import { randomUUID } from 'node:crypto';
import type { Judging } from '../config/run-config.ts';
import type { Judgement } from '../domain/outcome.ts';
import type { ItemRequest } from '../domain/request.ts';
import type { Moderator } from '../moderate/moderator.ts';
import { errorOfItem } from './api/errors.ts';

/**
 * Judges a request like an item of a run: in windows, frames and normalized format, through the same queue to the
 * guards.
 */
export class Moderation {
  readonly #moderator: Moderator;
  readonly #judging: Judging;

  constructor(moderator: Moderator, judging: Judging) {
    this.#moderator = moderator;
    this.#judging = judging;
  }

  /** Rejects with an ApiError, with the signal's reason, and with a Failure of the guards. */
  async judge(request: ItemRequest, signal: AbortSignal): Promise<Judgement> {
    const options = { judging: this.#judging, session: randomUUID(), signal };
    const [outcome] = await this.#moderator.outcomesOf([request], options);
    if (outcome?.judgement) return outcome.judgement;
    throw outcome?.failure ? errorOfItem(outcome.failure.error) : new Error('a request has no outcome');
  }
}
