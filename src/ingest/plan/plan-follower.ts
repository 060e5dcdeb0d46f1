import { itemError } from '../../domain/item-error.ts';
import type { FailedItem, Item } from '../../domain/item.ts';
import { payloadSha256 } from '../../domain/shard.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import type { CutShard } from './cut-shards.ts';
import type { PlanLine, PlannedShard } from './plan-line.ts';
import { isClosing, PlanState } from './plan-state.ts';

interface OpenShard {
  readonly line: PlannedShard;
  readonly committed: boolean;
  readonly items: Item[];
  /** Index of the range, and seq, of the next expected item. */
  range: number;
  nextSeq: number;
}

/**
 * Puts items that are read again into the shards they were planned in. The plan is authoritative: a planned shard gets
 * the seqs of its line, whatever the limits are now.
 *
 * Few lines are held at once: they are in the order in which their shards closed, and the cutter bounds how far an open
 * shard lags behind the others.
 */
export class PlanFollower {
  readonly #lines: AsyncIterator<readonly PlanLine[]>;
  readonly #pass: number;
  readonly #isCommitted: (shard: number) => boolean;
  #ahead: PlannedShard[] = [];
  #open: OpenShard[] = [];
  #exhausted = false;

  constructor(
    lines: AsyncIterable<readonly PlanLine[]>,
    options: { readonly pass: number; readonly isCommitted: (shard: number) => boolean },
  ) {
    this.#lines = lines[Symbol.asyncIterator]();
    this.#pass = options.pass;
    this.#isCommitted = options.isCommitted;
  }

  /** Whether every line of the plan was read and filled: later items are unplanned. */
  get done(): boolean {
    return this.#exhausted && this.#open.length === 0 && this.#ahead.length === 0;
  }

  /** Number of uncommitted planned shards that were started but not filled. */
  get unfilled(): number {
    return this.#open.filter((entry) => !entry.committed).length;
  }

  /**
   * Places the next item, in ascending seq. Returns `unplanned` if no line of the plan contains it, the shard and its
   * line if it completes an uncommitted one, and null otherwise.
   */
  async place(item: Item): Promise<CutShard | 'unplanned' | null> {
    const entry = await this.#find(item.seq);
    if (entry === undefined) return 'unplanned';
    if (!entry.committed) entry.items.push(item);
    const range = entry.line.seqs[entry.range]!;
    if (item.seq < range[1]) {
      entry.nextSeq++;
      return null;
    }
    const next = entry.line.seqs[entry.range + 1];
    if (next !== undefined) {
      entry.range++;
      entry.nextSeq = next[0];
      return null;
    }
    this.#open.splice(this.#open.indexOf(entry), 1);
    return entry.committed ? null : completed(entry);
  }

  async #find(seq: number): Promise<OpenShard | undefined> {
    for (;;) {
      const found = this.#open.find((entry) => entry.nextSeq === seq || skipTo(entry, seq));
      if (found !== undefined) return found;
      const line = await this.#nextLine();
      if (line === undefined) return undefined;
      const last = line.seqs.at(-1)![1];
      // A shard of a source that was not read again because all of it is committed.
      if (last < seq) continue;
      this.#open.push({
        line,
        committed: this.#isCommitted(line.shard),
        items: [],
        range: 0,
        nextSeq: line.seqs[0]![0],
      });
    }
  }

  async #nextLine(): Promise<PlannedShard | undefined> {
    while (this.#ahead.length === 0 && !this.#exhausted) {
      const next = await this.#lines.next();
      if (next.done === true) this.#exhausted = true;
      else {
        this.#ahead = next.value.filter(
          (line): line is PlannedShard => !('closed' in line) && line.pass === this.#pass,
        );
      }
    }
    return this.#ahead.shift();
  }

  /** Closes the plan file. */
  async close(): Promise<void> {
    await this.#lines.return?.();
  }
}

/**
 * Moves on to a seq within a committed shard; false if the shard does not contain it. Earlier seqs of the shard may
 * belong to sources that were not read again.
 */
function skipTo(entry: OpenShard, seq: number): boolean {
  if (!entry.committed) return false;
  const range = entry.line.seqs.findIndex(([first, last]) => first <= seq && seq <= last);
  if (range === -1) return false;
  entry.range = range;
  entry.nextSeq = seq;
  return true;
}

function completed({ line, items }: OpenShard): CutShard {
  const changed = items.some((item) => item.settled?.error?.code === 'SOURCE_CHANGED');
  const asPlanned = changed || payloadSha256(items) === line.payload_sha256;
  const { shard, pass, lane } = line;
  return { shard: { shard, pass, lane, items: asPlanned ? items : items.map(notAsPlanned) }, line };
}

/** For a file that has its old size and times but different content: what was planned cannot be judged. */
function notAsPlanned(item: Item): FailedItem {
  return {
    seq: item.seq,
    id: item.id,
    source: item.source,
    roles: null,
    part: item.part,
    turn: item.turn,
    request: null,
    modality: item.request?.modality ?? null,
    requestType: item.request?.requestType ?? null,
    contentSha256: null,
    settled: {
      judgement: null,
      error: itemError('SOURCE_CHANGED', 'the content differs from what was planned'),
    },
  };
}

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
