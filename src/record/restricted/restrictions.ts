import type { Item } from '../../domain/item.ts';
import { partsSha256 } from '../../domain/restriction/content-parts.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { ItemRequest } from '../../domain/request.ts';
import type { Policy } from '../../domain/policy.ts';
import { CHILDREN, findRestriction, type Restriction, SEXUAL } from '../../domain/restriction/restriction.ts';
import type { DecidedItem } from '../reviews/review.ts';
import { ReviewHistory } from '../reviews/review-history.ts';
import { type FoundInRun, type HashedItem, hashesOf, RestrictedList } from './restricted-list.ts';

interface RestrictionParts {
  readonly run: string;
  readonly policy: Policy;
  readonly reviews: ReviewHistory;
  readonly list: RestrictedList;
}

/**
 * Determines which items of a run are restricted: by its guard and policy, by people, or by another run of the same
 * folder. Items that a person released are not.
 */
export class Restrictions {
  readonly reviews: ReviewHistory;
  readonly #policy: Policy;
  readonly #list: RestrictedList;
  readonly #own: FoundInRun;

  constructor({ run, policy, reviews, list }: RestrictionParts) {
    this.reviews = reviews;
    this.#policy = policy;
    this.#list = list;
    this.#own = { run, isFound: (seq) => reviews.isStillFound(run, seq) };
  }

  /**
   * Reads the current decisions and the list next to the run. Failure('internal') when one of them fails verification.
   */
  static async read(
    runDir: string,
    { run, policy }: Pick<RestrictionParts, 'run' | 'policy'>,
    signal: AbortSignal,
  ): Promise<Restrictions> {
    const list = RestrictedList.beside(runDir);
    await list.read(signal);
    return new Restrictions({ run, policy, list, reviews: await ReviewHistory.read(runDir, signal) });
  }

  /** The restriction of an outcome; null if it has none. */
  by(line: OutcomeLine): Restriction | null {
    const own = findRestriction(this.#policy, line);
    if (own === CHILDREN) return own;
    const isReleased = this.reviews.releaseOf(this.#own.run, line.content_sha256) !== null;
    return this.besides(line) ?? (isReleased ? null : own);
  }

  /** The restriction of an item apart from its verdict: by people, or by another run. */
  besides(item: DecidedItem & HashedItem): Restriction | null {
    if (this.reviews.isFoundRestricted(item)) return CHILDREN;
    return this.isAnyListed ? this.#listed(hashesOf(item)) : null;
  }

  /** Whether an item, as it currently reads, or a part of it is restricted. */
  holdsItem({ request, contentSha256 }: Item): boolean {
    if (!this.isAnyListed || contentSha256 === null) return false;
    const parts = request === null ? [] : partsSha256(request, contentSha256);
    if (!parts.includes(contentSha256)) parts.push(contentSha256);
    return this.#listed(parts) !== null;
  }

  /** Whether any content in the folder of the runs is restricted. */
  get isAnyListed(): boolean {
    return !this.#list.isEmpty;
  }

  /** Whether content, or a part of it, is restricted by the list. */
  holds(request: ItemRequest): boolean {
    return this.isAnyListed && this.#listed(partsSha256(request)) !== null;
  }

  /** Reads new entries of other processes. */
  read(signal: AbortSignal): Promise<void> {
    return this.#list.read(signal);
  }

  #listed(hashes: readonly string[]): Restriction | null {
    const found = hashes.map((sha256) => {
      const by = this.#list.by(sha256, this.#own);
      return by === SEXUAL && this.reviews.releaseOf(this.#own.run, sha256) !== null ? null : by;
    });
    return found.find((by) => by === CHILDREN) ?? found.find((by) => by !== null) ?? null;
  }
}
