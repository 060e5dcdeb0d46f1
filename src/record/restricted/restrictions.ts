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

/** Which items of a run are restricted: by its guard and policy, by people, or by another run of the same folder; not those that a person released. */
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

  /** As the decisions and the list beside the run are now. Failure('internal') when one of them fails verification. */
  static async read(
    runDir: string,
    { run, policy }: Pick<RestrictionParts, 'run' | 'policy'>,
    signal: AbortSignal,
  ): Promise<Restrictions> {
    const list = RestrictedList.beside(runDir);
    await list.read(signal);
    return new Restrictions({ run, policy, list, reviews: await ReviewHistory.read(runDir, signal) });
  }

  /** What restricts an outcome; null if nothing does. */
  by(line: OutcomeLine): Restriction | null {
    const own = findRestriction(this.#policy, line);
    if (own === CHILDREN) return own;
    const isReleased = this.reviews.releaseOf(this.#own.run, line.content_sha256) !== null;
    return this.besides(line) ?? (isReleased ? null : own);
  }

  /** What restricts an item besides its verdict: people, or another run. */
  besides(item: DecidedItem & HashedItem): Restriction | null {
    if (this.reviews.isFoundRestricted(item)) return CHILDREN;
    return this.isAnyListed ? this.#listed(hashesOf(item)) : null;
  }

  /** Whether an item as it is read now is restricted, or a part of it. */
  holdsItem({ request, contentSha256 }: Item): boolean {
    if (!this.isAnyListed || contentSha256 === null) return false;
    const parts = request === null ? [] : partsSha256(request, contentSha256);
    if (!parts.includes(contentSha256)) parts.push(contentSha256);
    return this.#listed(parts) !== null;
  }

  /** Whether any content of the folder of the runs is restricted. */
  get isAnyListed(): boolean {
    return !this.#list.isEmpty;
  }

  /** Whether content, or a part of it, is restricted by the list. */
  holds(request: ItemRequest): boolean {
    return this.isAnyListed && this.#listed(partsSha256(request)) !== null;
  }

  /** Reads what other processes added since. */
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
