import { hash } from 'node:crypto';
import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { hasReusedVerdict, type Item } from '../../domain/item.ts';
import type { Judgement, Outcome, OutcomeLine } from '../../domain/outcome.ts';
import { findRestriction, type Restriction } from '../../domain/restriction/restriction.ts';
import type { ShardResult } from '../../domain/shard.ts';
import { PART_DIGITS } from '../../domain/text/snippet.ts';
import { plural } from '../../domain/text/plural.ts';
import { decisionOn, errorLine, verdictLine } from '../../record/outcomes/outcome-line.ts';
import type { TextBuffer } from '../../files/text-buffer.ts';
import type { ShardTally } from '../../record/shard-tally.ts';
import { NO_RULING, Tally, type Ruling } from '../../record/tally.ts';
import { hashesOf } from '../../record/restricted/restricted-list.ts';

/** A shard's part of the log, ready to be written. */
export interface EncodedShard {
  /** A view of the given buffer. */
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly tally: ShardTally;
  /** Content hashes of its restricted items. */
  readonly restricted: ReadonlyMap<Restriction, readonly string[]>;
}

/**
 * Encodes the lines of a shard, in the order of its items, into `text`, an empty buffer. `at` (ISO 8601, UTC) is the
 * time of errors that were known when the item was read. `isRestricted` tells, by content hash, whether content is
 * restricted in any run. Failure('internal') when outcomes do not fit the items: an item without an outcome must never
 * pass for clean.
 */
export function encodeShard(
  run: string,
  { policy, output }: Pick<RunConfig, 'policy' | 'output'>,
  result: ShardResult,
  at: string,
  text: TextBuffer,
  isRestricted: (sha256: string) => boolean,
): EncodedShard {
  const { items, shard } = result.shard;
  if (result.outcomes.length !== items.length) {
    throw new Failure(
      'internal',
      `shard ${shard} has ${items.length} ${plural(items.length, 'item')} but ${result.outcomes.length} ${plural(result.outcomes.length, 'outcome')}`,
    );
  }
  // A result may come from a worker that was not asked for content.
  const quotes = output.includeContent ? new Quotes(result, policy, isRestricted) : null;
  const stamped = new Set(result.fingerprints.map(({ id }) => id));
  const restricted = new Map<Restriction, string[]>();
  const tally = new Tally();
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!;
    const outcome = item.settled === null ? result.outcomes[index]! : settledOutcome(item, at);
    let line: OutcomeLine;
    let ruling: Ruling = NO_RULING;
    if (outcome === null) {
      throw new Failure('internal', `item ${item.seq} of shard ${shard} has no outcome`);
    } else if (outcome.judgement === null) {
      line = errorLine(run, item, outcome.failure);
    } else {
      const { fingerprint } = outcome.judgement;
      if (fingerprint !== null && !stamped.has(fingerprint)) {
        throw new Failure('internal', `shard ${shard} names a fingerprint that its result lacks`);
      }
      const decided = decisionOn(policy, outcome.judgement);
      const by = restrictionOf(policy, outcome.judgement);
      const mayQuote = quotes !== null && decided.decision !== 'allow' && by === null;
      const snippet = mayQuote ? quotes.snippetAt(index) : null;
      line = verdictLine(run, item, outcome.judgement, decided, snippet);
      if (by !== null)
        restricted
          .set(by, restricted.get(by) ?? [])
          .get(by)!
          .push(...hashesOf(line));
      ruling = { thresholdUnapplied: decided.thresholdUnapplied, restrictedBy: by };
    }
    tally.add(line, ruling);
    text.add(JSON.stringify(line));
    text.add('\n');
  }
  const bytes = text.take();
  return { bytes, sha256: hash('sha256', bytes), tally: tally.shardTally(), restricted };
}

/** Snippets that the lines of a shard may hold: none from a record in which anything is restricted. */
class Quotes {
  readonly #result: ShardResult;
  readonly #isRestricted: (sha256: string) => boolean;
  /** Content and records of the shard's restricted items. */
  readonly #contents = new Set<string>();
  readonly #records = new Set<string>();

  constructor(result: ShardResult, policy: RunConfig['policy'], isRestricted: (sha256: string) => boolean) {
    this.#result = result;
    this.#isRestricted = isRestricted;
    for (const [index, item] of result.shard.items.entries()) {
      const judgement = item.settled === null ? result.outcomes[index]?.judgement : item.settled.judgement;
      const hashes = hashesOf({ content_sha256: item.contentSha256, source: item.source });
      const isOwn = judgement != null && restrictionOf(policy, judgement) !== null;
      if (!isOwn && !hashes.some(isRestricted)) continue;
      for (const sha256 of hashes) this.#contents.add(sha256.slice(0, PART_DIGITS));
      this.#records.add(recordOf(item));
    }
  }

  snippetAt(index: number): string | null {
    const item = this.#result.shard.items[index]!;
    const snippet = hasReusedVerdict(item) ? item.settled.snippet : (this.#result.snippets?.[index] ?? null);
    if (snippet === null || this.#records.has(recordOf(item))) return null;
    const isHeld = snippet.parts.some((part) => this.#contents.has(part) || this.#isRestricted(part));
    return isHeld ? null : snippet.text;
  }
}

/** The category that restricts the judged item; null if none does. */
function restrictionOf(
  policy: RunConfig['policy'],
  { subcategoryFlags, subcategoryScores }: Judgement,
): Restriction | null {
  return findRestriction(policy, {
    subcategory_flags: subcategoryFlags,
    subcategory_scores: subcategoryScores,
  });
}

const recordOf = ({ source }: Item): string => `${source.path}\n${source.row ?? ''}`;

/** The outcome of a resolved item. An error gets the time `at`, because it has none from when the item was read. */
function settledOutcome({ settled }: Item, at: string): Outcome | null {
  if (settled?.judgement) return { judgement: settled.judgement, failure: null };
  if (!settled?.error) return null;
  return {
    judgement: null,
    failure: { error: settled.error, attempts: 0, endpoint: null, moderatedAt: at },
  };
}
