import { hash } from 'node:crypto';
import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { isCopy, isKnown, type Item } from '../../domain/item.ts';
import type { LogLine, Outcome } from '../../domain/outcome.ts';
import { restrictedBy, type Restriction } from '../../domain/restriction/restricted.ts';
import type { ShardResult } from '../../domain/shard.ts';
import { plural } from '../../domain/text/plural.ts';
import { copyLine, errorLine, verdictLine } from '../../record/outcomes/outcome-line.ts';
import type { TextBuffer } from '../../files/text-buffer.ts';
import type { ShardCounts } from '../../record/log/chain-line.ts';
import { hashesOf } from '../../record/restricted/restricted-list.ts';

/** A shard's part of the log, ready to be written. */
export interface EncodedShard {
  /** A view of the given buffer. */
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly counts: ShardCounts;
  /** Hashes of its restricted contents. */
  readonly restricted: ReadonlyMap<Restriction, readonly string[]>;
}

/**
 * Encodes the lines of a shard, in the order of its items, into `text`, an empty buffer. `at` (ISO 8601, UTC) is the time
 * of errors that were known when the item was read. Failure('internal') when outcomes do not fit the items: an
 * item without an outcome must never pass for clean. `mayQuote`: whether the content of an item is restricted nowhere.
 */
export function encodeShard(
  run: string,
  { policy, output }: Pick<RunConfig, 'policy' | 'output'>,
  result: ShardResult,
  at: string,
  text: TextBuffer,
  mayQuote: (item: Item) => boolean,
): EncodedShard {
  const { items, shard } = result.shard;
  if (result.outcomes.length !== items.length) {
    throw new Failure(
      'internal',
      `shard ${shard} has ${items.length} ${plural(items.length, 'item')} but ${result.outcomes.length} ${plural(result.outcomes.length, 'outcome')}`,
    );
  }
  const stamped = new Set(result.fingerprints.map(({ id }) => id));
  const restricted = new Map<Restriction, string[]>();
  let errors = 0;
  let copies = 0;
  let review = 0;
  let block = 0;
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!;
    const outcome = item.settled === null ? result.outcomes[index]! : settledOutcome(item, at);
    let line: LogLine;
    if (isCopy(item)) {
      line = copyLine(run, item, at);
    } else if (outcome === null) {
      throw new Failure('internal', `item ${item.seq} of shard ${shard} has no outcome`);
    } else if (outcome.judgement === null) {
      line = errorLine(run, item, outcome.failure);
    } else {
      const { fingerprint } = outcome.judgement;
      if (fingerprint !== null && !stamped.has(fingerprint)) {
        throw new Failure('internal', `shard ${shard} names a fingerprint that its result lacks`);
      }
      // A result may come from a worker that was not asked for content.
      const isQuoted = output.includeContent && mayQuote(item);
      line = verdictLine(run, policy, item, outcome.judgement, isQuoted ? snippetAt(result, index) : null);
      const by = restrictedBy(policy, line);
      if (by !== null) restricted.set(by, [...(restricted.get(by) ?? []), ...hashesOf(line)]);
    }
    if (line.status === 'same') copies++;
    else if (line.status === 'error') errors++;
    else if (line.decision === 'review') review++;
    else if (line.decision === 'block') block++;
    text.add(JSON.stringify(line));
    text.add('\n');
  }
  const bytes = text.take();
  return {
    bytes,
    sha256: hash('sha256', bytes),
    counts: { items: items.length, errors, copies, review, block },
    restricted,
  };
}

function snippetAt({ shard, snippets }: ShardResult, index: number): string | null {
  const item = shard.items[index]!;
  return isKnown(item) ? item.settled.snippet : (snippets?.[index] ?? null);
}

/** The outcome of a settled item, null for a copy; an error gets the time `at`, since none was taken when the item was read. */
function settledOutcome({ settled }: Item, at: string): Outcome | null {
  if (settled?.judgement) return { judgement: settled.judgement, failure: null };
  if (!settled?.error) return null;
  return {
    judgement: null,
    failure: { error: settled.error, attempts: 0, endpoint: null, moderatedAt: at },
  };
}
