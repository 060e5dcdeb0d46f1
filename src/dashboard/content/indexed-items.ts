import type { OutcomeLine } from '../../domain/outcome.ts';
import { conversationTip } from '../index/conversation-tip.ts';
import type { RunIndex } from '../index/run-index.ts';
import type { RunIndexes } from '../index/run-indexes.ts';
import type { AskRunItems, RunItems } from './run-items.ts';

/** Lines that are read at once. */
const READ_LINES = 256;

/** Asks the indexes of runs for their outcomes; waits for an index that is being built. */
export function askIndexes(indexes: RunIndexes): AskRunItems {
  const known = new WeakMap<RunIndex, RunItems>();
  return async (runDir, query, signal) => {
    const { index, stale, release } = await indexes.patientLease(runDir, signal);
    try {
      const items = known.get(index) ?? indexedItems(index);
      known.set(index, items);
      return await query(items, stale);
    } finally {
      release();
    }
  };
}

function indexedItems(index: RunIndex): RunItems {
  const { lines, reviews } = index;
  return {
    line: async (seq) => (await lines.read([seq]))[0] ?? null,
    restrictions: (signal) => index.currentRestrictions(signal),
    async *restricted(signal): AsyncGenerator<OutcomeLine, void> {
      const seqs = await index.restricted(signal);
      for (let from = 0; from < seqs.length; from += READ_LINES) {
        signal.throwIfAborted();
        yield* await lines.read(seqs.slice(from, from + READ_LINES));
      }
    },
    foundByPeople: async (signal) => {
      await reviews.readOn(signal);
      return lines.read(reviews.seqs().filter((seq) => reviews.isFoundRestricted(seq)));
    },
    tippedBy: async (line, signal) => (await conversationTip(lines, line, signal))?.turn ?? null,
  };
}
