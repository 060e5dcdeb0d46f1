import { Failure } from '../../domain/failure.ts';
import type { Lane } from '../../domain/item.ts';
import {
  decodePlanLine,
  type PlanChanged,
  type PlanClosed,
  type PlanFileLine,
  type PlanLine,
  type PlannedShard,
} from './plan-line.ts';

/** Whether a line of the plan closes a pass. */
export function isClosing(line: PlanLine): line is PlanClosed {
  return 'closed' in line;
}

/** The number of seqs in a shard's ranges; null unless they ascend and start above `after`. */
function itemsOf(seqs: PlannedShard['seqs'], after: number): number | null {
  let items = 0;
  let previous = after;
  for (const [first, last] of seqs) {
    if (first <= previous || last < first) return null;
    items += last - first + 1;
    previous = last;
  }
  return items;
}

/**
 * State of a plan so far, and its invariants: shard numbers count up from 0 without gaps over all passes; within a lane
 * and pass, seqs ascend; a pass is closed once, with correct totals, before the next one starts.
 *
 * Several writers may have appended, each superseding the one before, and a superseded writer may wake up late. So a
 * line is valid only if no higher epoch opened the plan before it in the file. The meaning of a line therefore never
 * depends on later lines, and all readers agree. Also void are
 * - a line that repeats one of the same epoch: its writer was not sure that it had been written completely;
 * - a line that is not JSON: it was torn by a crash or a full disk, before anything relied on it. If it was a valid
 *   line that was damaged later, a gap in the shard numbers reveals that.
 */
export class PlanState {
  /** The highest epoch that has opened the plan; 0 before the first. */
  epoch = 0;
  /** Shards planned in all passes; also the number of the next shard. */
  shards = 0;
  /** Items of pass 1: the items of the run. */
  items = 0;
  /** The latest pass; 0 in an empty plan. */
  pass = 0;
  /** Items of the latest pass. */
  passItems = 0;
  /** The closing lines of the passes that are closed, pass 1 first. */
  readonly closed: PlanClosed[] = [];
  readonly #changed = new Map<number, Set<string>>();
  /** Last seq of each lane in the latest pass. */
  readonly #lastSeq = new Map<Lane, number>();
  #passShards = 0;
  #lines = 0;
  /** Number of the last line that is not JSON. */
  #torn: number | null = null;

  /** Whether the latest pass is closed. */
  get isClosed(): boolean {
    return this.pass > 0 && this.closed.length === this.pass;
  }

  /**
   * Applies the next line of the file. Returns null for a line that plans nothing: an opening, a change or a void line.
   * Throws Failure('internal') naming the line if it breaks an invariant.
   */
  takeBytes(bytes: Buffer): PlanLine | null {
    this.#lines++;
    const found = this.#parse(bytes);
    if (found === null) return null;
    if ('opened' in found) {
      this.epoch = Math.max(this.epoch, found.opened);
      return null;
    }
    const { epoch, ...line } = found;
    if (epoch < this.epoch) return null;
    if (epoch > this.epoch) throw this.#broken(`has epoch ${epoch}, which has not opened the plan`);
    if ('changed' in line) {
      this.takeChange(line);
      return null;
    }
    return this.#take(line) ? line : null;
  }

  /** Applies a line that the current epoch is about to write. False if the plan already contains it. */
  take(line: PlanLine): boolean {
    this.#lines++;
    return this.#take(line);
  }

  /** Records that a shard was fed with items other than planned. False if that was already known. */
  takeChange({ changed, items_sha256: items }: PlanChanged): boolean {
    if (changed >= this.shards) throw this.#broken(`changes shard ${changed}, which is not planned`);
    const known = this.#changed.get(changed) ?? new Set();
    if (known.has(items)) return false;
    this.#changed.set(changed, known.add(items));
    return true;
  }

  /** Whether a shard may have been fed with items of this hash: as planned, or as changed later. */
  wasFed(
    { shard, items_sha256: planned }: Pick<PlannedShard, 'shard' | 'items_sha256'>,
    items: string,
  ): boolean {
    return items === planned || this.#changed.get(shard)?.has(items) === true;
  }

  /** Null for a torn line. */
  #parse(bytes: Buffer): PlanFileLine | null {
    const line = decodePlanLine(bytes);
    if (line === 'damaged') throw this.#broken('is damaged');
    if (line !== 'torn') return line;
    this.#torn = this.#lines;
    return null;
  }

  #take(line: PlanLine): boolean {
    return isClosing(line) ? this.#takeClosing(line) : this.#takeShard(line);
  }

  #takeShard(line: PlannedShard): boolean {
    if (line.shard < this.shards) return false;
    if (line.shard > this.shards && this.#torn !== null) {
      throw new Failure('internal', `plan.jsonl line ${this.#torn} is damaged, and later lines depend on it`);
    }
    if (line.shard > this.shards)
      throw this.#broken(`plans shard ${line.shard}, but the next shard is ${this.shards}`);
    this.#enter(line.pass);
    const items = itemsOf(line.seqs, this.#lastSeq.get(line.lane) ?? -1);
    if (items === null) throw this.#broken('has seqs that do not ascend within its lane');
    if (items !== line.items) throw this.#broken('has different numbers of items and seqs');
    this.#lastSeq.set(line.lane, line.seqs.at(-1)![1]);
    this.shards++;
    this.#passShards++;
    this.passItems += line.items;
    if (line.pass === 1) this.items += line.items;
    return true;
  }

  #takeClosing(line: PlanClosed): boolean {
    if (line.pass <= this.closed.length) return false;
    this.#enter(line.pass);
    const bySource = line.items_by_source.reduce((sum, items) => sum + items, 0);
    if (line.shards !== this.#passShards || line.items !== this.passItems || bySource !== line.items) {
      throw this.#broken(`closes pass ${line.pass} with totals that do not match its shards`);
    }
    this.closed.push(line);
    return true;
  }

  #enter(pass: number): void {
    if (pass === this.pass && !this.isClosed) return;
    if (pass !== this.pass + 1 || (this.pass > 0 && !this.isClosed)) {
      throw this.#broken(`belongs to pass ${pass}, which is not open at that point`);
    }
    this.pass = pass;
    this.#lastSeq.clear();
    this.#passShards = 0;
    this.passItems = 0;
  }

  #broken(what: string): Failure {
    return new Failure('internal', `plan.jsonl line ${this.#lines} ${what}`);
  }
}
