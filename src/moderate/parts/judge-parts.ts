import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import type { Coverage } from '../../domain/coverage.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { CombinedParts } from '../../domain/combined-parts.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { Judgement, Outcome } from '../../domain/outcome.ts';
import type { GuardRequest, MediaKind } from '../../domain/request.ts';
import { MAX_FOREIGN_CATEGORIES } from '../../domain/taxonomy.ts';

/** The guards, as this module uses them. */
export interface Judge {
  /** Outcome i belongs to request i. Rejects only if no guard is available, or on abort. */
  judge(
    requests: readonly GuardRequest[],
    options: {
      readonly session: string;
      readonly signal: AbortSignal;
      /** The preferred endpoint, which judged other parts of the same item; null for any. */
      readonly endpoint?: string | null;
    },
  ): Promise<readonly Outcome[]>;
  /**
   * Why no guard judges media of this kind, in which case they need not be decoded; null if a guard does, or may.
   * Omitted by judges that cannot know. Rejects with the signal's reason.
   */
  notJudged?(kind: MediaKind, signal: AbortSignal): Promise<ItemError | null>;
  /** Every fingerprint that an outcome may name, by its id. */
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  /** The last canary checks that its models passed; omitted if there are none. */
  readonly canaries?: readonly CanaryCheck[];
  /** Runs the canaries again; omitted if there are none. Rejects if a guard fails them, or on abort. */
  checkAgain?(signal: AbortSignal): Promise<void>;
}

/** A part of an item, as it is sent to the guard. */
export interface Part {
  readonly request: GuardRequest;
  /** Position in the item, in the unit of the item's coverage. */
  readonly at: number;
}

/**
 * Passes the parts of an item to `judge` in groups, one group at a time. Returns how much of the item they cover, or
 * the error that the item ends in. Must not catch errors of `judge`.
 */
type Parts = (judge: (group: readonly Part[]) => Promise<void>) => Promise<PartsCoverage | ItemError>;

export type PartsCoverage = Omit<Coverage, 'worst_at'>;

export interface PartsOptions {
  readonly session: string;
  readonly signal: AbortSignal;
  /** The preferred endpoint for the first group; further groups prefer the one that judged the group before. */
  readonly endpoint?: string | null;
}

/** Max times to judge the parts of an item if different models judged them; the item then ends in an error. */
const MAX_ROUNDS = 5;

/** Thrown through `Parts` to stop after a part that decides the outcome of the item. */
class EarlyEnd extends Error {
  readonly reason: Outcome | 'models differ';

  constructor(reason: Outcome | 'models differ') {
    super('the outcome of the item is known');
    this.reason = reason;
  }
}

/**
 * Judges all parts of an item and combines them into one outcome. The first part that fails is the item's failure; the
 * rest is not judged. All parts must have the same fingerprint: otherwise `parts` is called again and all are judged
 * again. An item whose parts differ each time ends as GUARD_INTERNAL. Rejects as the judge and `parts` do.
 */
export async function judgeParts(parts: Parts, judge: Judge, options: PartsOptions): Promise<Outcome> {
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const outcome = await judgeOnce(parts, judge, options);
    if (outcome !== 'models differ') return outcome;
  }
  return failedOutcome(
    itemError('GUARD_INTERNAL', `the model changed between its parts in each of ${MAX_ROUNDS} rounds`),
  );
}

/** The outcome of an item that fails without a reply from a guard. */
export function failedOutcome(error: ItemError): Outcome {
  const moderatedAt = new Date().toISOString();
  return { judgement: null, failure: { error, attempts: 0, endpoint: null, moderatedAt } };
}

async function judgeOnce(
  parts: Parts,
  judge: Judge,
  options: PartsOptions,
): Promise<Outcome | 'models differ'> {
  const combination = new Combination();
  let endpoint = options.endpoint ?? null;
  const judgeGroup = async (group: readonly Part[]): Promise<void> => {
    options.signal.throwIfAborted();
    const requests = group.map(({ request }) => request);
    const outcomes = await judge.judge(requests, { ...options, endpoint });
    for (const [index, { at }] of group.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) throw new Error('a part was not answered');
      if (outcome.judgement === null) throw new EarlyEnd(outcome);
      const { fingerprint } = combination;
      if (fingerprint !== undefined && fingerprint !== outcome.judgement.fingerprint) {
        throw new EarlyEnd('models differ');
      }
      combination.add(at, outcome.judgement);
      endpoint = outcome.judgement.endpoint;
    }
  };
  let end: PartsCoverage | ItemError;
  try {
    end = await parts(judgeGroup);
  } catch (error) {
    if (error instanceof EarlyEnd) return error.reason;
    throw error;
  }
  if ('code' in end) return failedOutcome(end);
  if (combination.isOverfull) {
    return failedOutcome(
      itemError('INVALID_REPLY', `its parts have more than ${MAX_FOREIGN_CATEGORIES} categories`),
    );
  }
  const judgement = combination.judgement(end);
  if (judgement === null) throw new Error('an item without parts was judged');
  return { judgement, failure: null };
}

/** Combines the judgements of the parts of one item. */
class Combination {
  readonly #parts = new CombinedParts<Judgement>();
  #worstAt = 0;
  #count = 0;
  #fingerprint: string | null | undefined;
  #latencyMs = 0;
  #attempts = 0;
  #moderatedAt = '';

  /** `at` is the position in the item where the part begins, in the unit of the item's coverage. */
  add(at: number, judgement: Judgement): void {
    if (this.#parts.add(judgement)) this.#worstAt = at;
    if (this.#count++ === 0) this.#fingerprint = judgement.fingerprint;
    this.#latencyMs = Math.max(this.#latencyMs, judgement.latencyMs);
    this.#attempts = Math.max(this.#attempts, judgement.attempts);
    if (judgement.moderatedAt > this.#moderatedAt) this.#moderatedAt = judgement.moderatedAt;
  }

  get isOverfull(): boolean {
    return this.#parts.isOverfull;
  }

  /** Fingerprint of the first part added, null if its guard has none; undefined before the first part. */
  get fingerprint(): string | null | undefined {
    return this.#fingerprint;
  }

  /**
   * The item's judgement: scores and flags as `CombinedParts`, the endpoint of the part with the highest score, the
   * longest latency, the most attempts and the latest time. Null without a part.
   */
  judgement(covered: Omit<Coverage, 'worst_at'>): Judgement | null {
    const { combined } = this.#parts;
    if (combined === null) return null;
    return {
      ...combined,
      latencyMs: this.#latencyMs,
      attempts: this.#attempts,
      moderatedAt: this.#moderatedAt,
      coverage: { ...covered, worst_at: this.#count === 1 ? null : this.#worstAt },
    };
  }
}
