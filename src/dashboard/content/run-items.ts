import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';

/** The outcomes of a run at one moment. */
export interface RunItems {
  /** Null for an item without an outcome. */
  line(seq: number, signal: AbortSignal): Promise<OutcomeLine | null>;
  /** What is restricted of the run now. */
  restrictions(signal: AbortSignal): Promise<Restrictions>;
  /** The items that the guard or the policy restricts, see `findRestriction`. */
  restricted(signal: AbortSignal): AsyncIterable<OutcomeLine>;
  /** The items in which people find, by their last review that names categories, Child Sexual Exploitation. */
  foundByPeople(signal: AbortSignal): Promise<readonly OutcomeLine[]>;
  /** For a turn of a conversation: the number of the turn that tipped it; null if none did. */
  tippedBy(line: OutcomeLine, signal: AbortSignal): Promise<number | null>;
}

/** Asks for outcomes of a run. `items` is the same object as long as the moment is; `stale`: the run has gone on since. */
export type AskRunItems = <T>(
  runDir: string,
  query: (items: RunItems, stale: boolean) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>;
