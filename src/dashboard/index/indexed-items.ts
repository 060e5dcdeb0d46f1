import type { FindRunItems, RunItems } from '../content/run-items.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { conversationTip } from './conversation-tip.ts';
import type { RunIndex } from './run-index.ts';
import type { RunIndexes } from './run-indexes.ts';

const BATCH = 256;

/** The outcomes of runs as their indexes have them. Waits for an index that is being built. */
export function findIndexedItems(indexes: RunIndexes): FindRunItems {
  const known = new WeakMap<RunIndex, RunItems>();
  return async (runDir, signal) => {
    const { index, release } = await indexes.patientLease(runDir, signal);
    release();
    const found = known.get(index) ?? new IndexedItems(indexes, runDir);
    known.set(index, found);
    return found;
  };
}

/** It outlives the index that it was made for, which may be closed at any time: each call leases the current one. */
class IndexedItems implements RunItems {
  readonly #indexes: RunIndexes;
  readonly #runDir: string;

  constructor(indexes: RunIndexes, runDir: string) {
    this.#indexes = indexes;
    this.#runDir = runDir;
  }

  async line(seq: number, signal: AbortSignal): Promise<OutcomeLine | null> {
    const [line] = await this.#lines([seq], signal);
    return line ?? null;
  }

  async *restricted(signal: AbortSignal): AsyncGenerator<OutcomeLine, void> {
    const seqs = await this.#restrictedSeqs(signal);
    for (let from = 0; from < seqs.length; from += BATCH) {
      yield* await this.#lines(seqs.slice(from, from + BATCH), signal);
    }
  }

  async tippedBy(line: OutcomeLine, signal: AbortSignal): Promise<number | null> {
    const { index, release } = await this.#indexes.patientLease(this.#runDir, signal);
    try {
      return (await conversationTip(index.lines, line, signal))?.turn ?? null;
    } finally {
      release();
    }
  }

  async #lines(seqs: readonly number[], signal: AbortSignal): Promise<OutcomeLine[]> {
    const { index, release } = await this.#indexes.patientLease(this.#runDir, signal);
    try {
      return await index.lines.read(seqs);
    } finally {
      release();
    }
  }

  async #restrictedSeqs(signal: AbortSignal): Promise<number[]> {
    const { index, release } = await this.#indexes.patientLease(this.#runDir, signal);
    try {
      return await index.restricted(signal);
    } finally {
      release();
    }
  }
}
