import { readRecordLines } from '../../files/record-lines.ts';
import type { PlannedShard } from './plan-line.ts';
import { isClosing, PlanState } from './plan-state.ts';

/** A place in a plan that another process appends to: each line is read once. */
export class PlanCursor {
  readonly #path: string;
  readonly #state = new PlanState();
  /** Bytes read. A plan is only ever appended to, so they do not change. */
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** What the plan says up to here. */
  get state(): Omit<PlanState, 'take' | 'takeBytes' | 'takeChange'> {
    return this.#state;
  }

  /**
   * Reads what was appended since the last call, and calls `onShard` for each shard that is planned there. A plan that
   * does not exist yet is empty. Failure('internal') names a line that breaks a rule. One call at a time.
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
