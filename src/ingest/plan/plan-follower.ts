import { itemError } from '../../domain/item-error.ts';
import type { Item, FailedItem } from '../../domain/item.ts';
import { payloadSha256 } from '../../domain/shard.ts';
import type { CutShard } from './cut-shards.ts';
import type { PlanLine, PlannedShard } from './plan-line.ts';

interface OpenShard {
  readonly line: PlannedShard;
  readonly committed: boolean;
  readonly items: Item[];
  /** Position of the next expected item. */
  range: number;
  nextSeq: number;
}

/**
 * Puts items that are read again into the shards they were planned in. The plan is authoritative: whatever the
 * bounds were that cut it, a planned shard comes out with the seqs its line names.
 *
 * Few lines are held at once: lines stand in the order their shards closed, and an open shard is never further
 * behind the others than the cutter lets it be.
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

  /** Whether every line of the plan was read and filled: from here on, items are unplanned. */
  get done(): boolean {
    return this.#exhausted && this.#open.length === 0 && this.#ahead.length === 0;
  }

  /** Number of planned shards that were begun and never filled. */
  get unfilled(): number {
    return this.#open.filter((entry) => !entry.committed).length;
  }

  /**
   * Places the next item, in ascending seq. Gives `unplanned` when no line of the plan names it, the shard and
   * its line when it completes one that is not committed, and null otherwise.
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
      // A shard of a source that was passed over because all of it is committed.
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

  /** Lets go of the plan file. */
  async close(): Promise<void> {
    await this.#lines.return?.();
  }
}

/**
 * Goes on to a seq within a committed shard; false when it does not hold it. What it holds before may be of sources
 * that were passed over unread.
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

/** The file's size and times are as they were and yet it reads otherwise: nobody judged what was planned. */
function notAsPlanned(item: Item): FailedItem {
  return {
    seq: item.seq,
    id: item.id,
    source: item.source,
    roles: null,
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
