import type { OutcomeLine } from '../../domain/outcome.ts';

/** The outcomes of a run at one moment. */
export interface RunItems {
  /** Null for an item without an outcome. */
  line(seq: number, signal: AbortSignal): Promise<OutcomeLine | null>;
  /** The restricted items, see restrictedBy. */
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
