import { readRecordLines } from '../../files/record-lines.ts';
import type { PlannedShard } from './plan-line.ts';
import { isClosing, PlanState } from './plan-state.ts';

/** A read position in a plan that another process appends to: each line is read once. */
export class PlanCursor {
  readonly #path: string;
  readonly #state = new PlanState();
  /** Bytes read. A plan is append-only, so they do not change. */
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** State of the plan up to this position. */
  get state(): Omit<PlanState, 'take' | 'takeBytes' | 'takeChange'> {
    return this.#state;
  }

  /**
   * Reads the lines appended since the last call, and calls `onShard` for each planned shard. A missing plan counts as
   * empty. Failure('internal') names an invalid line. Calls must not overlap.
   */
  async advance(onShard: (shard: PlannedShard) => void, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of readRecordLines(this.#path, { signal, from: this.#bytes })) {
        for (const bytes of batch) {
          const line = this.#state.takeBytes(bytes);
          if (line !== null && !isClosing(line)) onShard(line);
          this.#bytes += bytes.length + 1;
        }
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}
