import type { OutcomeLine } from '../../domain/outcome.ts';

/** The outcomes of a run at one moment. */
export interface RunItems {
  /** Null for an item without an outcome. */
  line(seq: number, signal: AbortSignal): Promise<OutcomeLine | null>;
  /** The restricted items, see restrictedBy. */
  restricted(signal: AbortSignal): AsyncIterable<OutcomeLine>;
  /** For a turn of a conversation: the number of the turn that tipped it; null if none did. */
  tippedBy(line: OutcomeLine, signal: AbortSignal): Promise<number | null>;
}

/** Finds the outcomes of a run. The same object is returned as long as the run has no others. */
export type FindRunItems = (runDir: string, signal: AbortSignal) => Promise<RunItems>;
