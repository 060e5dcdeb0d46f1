import { hash } from 'node:crypto';
import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { isCopy, isKnown, type Item } from '../../domain/item.ts';
import type { LogLine, Outcome, OutcomeLine } from '../../domain/outcome.ts';
import type { Restriction } from '../../domain/restriction/restricted.ts';
import type { ShardResult } from '../../domain/shard.ts';
import { plural } from '../../domain/text/plural.ts';
import { copyLine, errorLine, verdictLine } from '../../record/outcomes/outcome-line.ts';
import type { TextBuffer } from '../../files/text-buffer.ts';
import { outcomeOfCopy } from '../../record/outcomes/copied-outcome.ts';
import type { ShardTally } from '../../record/shard-tally.ts';
import { NO_RULING, rulingOn, Tally, type Ruling } from '../../record/tally.ts';
import { hashesOf } from '../../record/restricted/restricted-list.ts';

/** A shard's part of the log, ready to be written. */
export interface EncodedShard {
  /** A view of the given buffer. */
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly tally: ShardTally;
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
  const verdicts = items.some(isCopy) ? new Map<number, Judged>() : null;
  const tally = new Tally();
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!;
    const outcome = item.settled === null ? result.outcomes[index]! : settledOutcome(item, at);
    let line: LogLine;
    let ruling = NO_RULING;
    if (isCopy(item)) {
      const copy = copyLine(run, item, at);
      const original = verdicts?.get(copy.same_as);
      line = original === undefined ? copy : outcomeOfCopy(copy, original.line);
      if (line.status === 'ok') ruling = original!.ruling;
      else line = copy;
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
      const ruled = rulingOn(policy, line);
      if (ruled === null) throw new Failure('internal', `the policy contradicts itself on item ${item.seq}`);
      const by = ruled.restrictedBy;
      if (by !== null)
        restricted
          .set(by, restricted.get(by) ?? [])
          .get(by)!
          .push(...hashesOf(line));
      ruling = ruled;
      verdicts?.set(item.seq, { line, ruling });
    }
    if (line.status === 'same') tally.addWaiting(line);
    else tally.add(line, ruling);
    text.add(JSON.stringify(line));
    text.add('\n');
  }
  const bytes = text.take();
  return { bytes, sha256: hash('sha256', bytes), tally: tally.shardTally(), restricted };
}

/** A verdict that items of the same shard may be copies of. */
interface Judged {
  readonly line: OutcomeLine;
  readonly ruling: Ruling;
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
