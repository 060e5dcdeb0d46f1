import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { DECISIONS } from '../../domain/outcome.ts';
import { CHILDREN } from '../../domain/restriction/restriction.ts';
import { type DecidedItem, decisionKey, type Release, type Review, withoutTakenBack } from './review.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import { DECISIONS_FILE } from '../../files/run-files.ts';
import { hash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { ChainedFile } from '../../files/chained-file.ts';

/** Keys that every entry has. */
const HEAD = z.object({
  at: z.string(),
  by: z.string(),
  reviewer: z.string().nullable(),
  run: z.string(),
  note: z.string(),
});

const DECISION = HEAD.extend({
  seq: z.int().min(0),
  content_sha256: z.string().nullable(),
  decision: z.enum(DECISIONS).nullable(),
  run_decision: z.enum(DECISIONS).nullable(),
  score: z.number().nullable(),
  categories: z.array(z.enum(CATEGORY_KEYS)).nullable(),
  seen: z.boolean(),
});

/** A person's decision that an item restricted for Sexual Content may be shown in its run. */
const RELEASE = HEAD.extend({
  released: z.int().min(0),
  /** Hashes of the content. */
  contents: z.array(z.string()),
});

/**
 * What people decided on the content in a folder of runs, up to the last entry read: a hash-chained file next to the
 * runs, to which several processes append. A decision applies to the content, in whichever run it was made; for an item
 * without a content hash, it applies to that item.
 */
export class ReviewHistory {
  protected readonly file: ChainedFile;
  readonly #byKey = new Map<string, Review[]>();
  /** Releases by run and content hash. */
  readonly #released = new Map<string, Release>();
  /** The items of all decisions, in order. */
  readonly #decided: DecidedItem[] = [];
  /** Keys of the items that a person found restricted, by run and seq. */
  readonly #found = new Map<string, string>();

  protected constructor(runDir: string) {
    this.file = new ChainedFile({
      path: join(dirname(resolve(runDir)), DECISIONS_FILE),
      name: DECISIONS_FILE,
      genesis: hash('sha256', DECISIONS_FILE),
      take: (entry) => this.#take(entry),
    });
  }

  /**
   * Reads the current decisions of the folder that contains a run directory. Failure('internal') when the file fails
   * verification.
   */
  static async read(runDir: string, signal: AbortSignal): Promise<ReviewHistory> {
    const history = new ReviewHistory(runDir);
    await history.readOn(signal);
    return history;
  }

  /** Reads new entries, including those of other processes. Failure('internal') when the file fails verification. */
  readOn(signal: AbortSignal): Promise<void> {
    return this.file.read(signal);
  }

  #take(entry: unknown): void {
    const release = RELEASE.safeParse(entry);
    if (release.success) {
      const { run, contents, by, reviewer, at, note } = release.data;
      for (const sha256 of contents) this.#released.set(`${run} ${sha256}`, { at, by: reviewer ?? by, note });
      return;
    }
    const parsed = DECISION.safeParse(entry);
    if (!parsed.success) throw new Failure('internal', `${DECISIONS_FILE} has a line that is not a decision`);
    const { by, reviewer, content_sha256, ...said } = parsed.data;
    const item = { run: said.run, seq: said.seq, content_sha256 };
    const key = decisionKey(item);
    const reviews = this.#byKey.get(key) ?? [];
    reviews.push({ ...said, by: reviewer ?? by, number: reviews.length + 1 });
    this.#byKey.set(key, reviews);
    this.#decided.push(item);
    if (said.categories?.includes(CHILDREN) === true) this.#found.set(`${said.run} ${said.seq}`, key);
  }

  /** All reviews of an item from any run, oldest first. */
  of(item: DecidedItem): readonly Review[] {
    return this.#byKey.get(decisionKey(item)) ?? [];
  }

  /** The decision on an item that counts; null if there is none or it was taken back. */
  last(item: DecidedItem): Review | null {
    return withoutTakenBack(this.of(item)).at(-1) ?? null;
  }

  /**
   * The categories that people assigned to an item: those of its last decision that has any, even if decisions without
   * categories follow. Null if there are none.
   */
  categories(item: DecidedItem): Review['categories'] {
    return foundIn(this.of(item));
  }

  /** Whether people find an item restricted. */
  isFoundRestricted(item: DecidedItem): boolean {
    return this.categories(item)?.includes(CHILDREN) === true;
  }

  /** Whether an item that somebody found restricted still is, according to the decisions made in its own run. */
  isStillFound(run: string, seq: number): boolean {
    const key = this.#found.get(`${run} ${seq}`);
    const own = (key === undefined ? [] : this.#byKey.get(key)!).filter((review) => review.run === run);
    return foundIn(own)?.includes(CHILDREN) === true;
  }

  /**
   * The release of content that is restricted for Sexual Content in a run, by one of its hashes; null if it was not
   * released.
   */
  releaseOf(run: string, sha256: string | null): Release | null {
    return this.#released.get(`${run} ${sha256}`) ?? null;
  }

  /** Number of released contents. */
  get releases(): number {
    return this.#released.size;
  }

  /** The items of all decisions after the first `known`, in order. */
  decidedSince(known: number): readonly DecidedItem[] {
    return this.#decided.slice(known);
  }
}

function foundIn(reviews: readonly Review[]): Review['categories'] {
  return withoutTakenBack(reviews).findLast(({ categories }) => categories !== null)?.categories ?? null;
}
