import { Failure } from '../../domain/failure.ts';
import type { Lane } from '../../domain/item.ts';
import { decodePlanLine } from './plan-codec.ts';
import type { PlanChanged, PlanClosed, PlanFileLine, PlanLine, PlannedShard } from './plan-line.ts';

/** Whether a line of the plan closes a pass. */
export function isClosing(line: PlanLine): line is PlanClosed {
  return 'closed' in line;
}

/** The number of seqs in a shard's ranges; null when they do not ascend from above `after`. */
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
 * What a plan says so far, and the rules its lines keep: shard numbers count up from 0 without a gap over all
 * passes; within a lane and pass, seqs ascend; a pass is closed once, with true totals, before the next begins.
 *
 * Several writers may have appended, one overtaking the other, and an overtaken one may wake up late. So a line
 * counts only when no higher epoch opened the plan before it in the file. What a line means therefore never depends
 * on what comes after it, and all readers agree. Void are also
 * - a line that repeats one of the same epoch: its writer was not sure that it had come to the disk whole;
 * - a line that is no JSON: it was torn off, by a crash or a full disk, before anything was done on its strength.
 *   Were it a line that counted once, a gap in the numbers would show it.
 */
export class PlanState {
  /** The highest epoch that has opened the plan; 0 before the first. */
  epoch = 0;
  /** Shards planned in all passes: also the number of the next shard. */
  shards = 0;
  /** Items of pass 1: the items of the run. */
  items = 0;
  /** The latest pass; 0 in an empty plan. */
  pass = 0;
  /** The closing lines of the passes that are closed, pass 1 first. */
  readonly closed: PlanClosed[] = [];
  readonly #changed = new Map<number, Set<string>>();
  /** Last seq of each lane in the latest pass. */
  readonly #lastSeq = new Map<Lane, number>();
  #passShards = 0;
  #passItems = 0;
  #lines = 0;
  /** The last line that is no JSON. */
  #torn: number | null = null;

  /** Whether the latest pass is closed. */
  get isClosed(): boolean {
    return this.pass > 0 && this.closed.length === this.pass;
  }

  /**
   * Takes the next line of the file; gives null for one that plans nothing: an opening, a change or a void one.
   * Throws Failure('internal') naming the line when it breaks a rule.
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
    if (epoch > this.epoch) throw this.#broken(`is of epoch ${epoch}, which has not opened the plan`);
    if ('changed' in line) {
      this.takeChange(line);
      return null;
    }
    return this.#take(line) ? line : null;
  }

  /** The same for a line that is not read but about to be written, by the epoch in force. */
  take(line: PlanLine): boolean {
    this.#lines++;
    return this.#take(line);
  }

  /** Takes in that a shard was fed with other items than planned; gives whether that is news. */
  takeChange({ changed, items_sha256: items }: PlanChanged): boolean {
    if (changed >= this.shards) throw this.#broken(`changes shard ${changed}, which is not planned`);
    const known = this.#changed.get(changed) ?? new Set();
    if (known.has(items)) return false;
    this.#changed.set(changed, known.add(items));
    return true;
  }

  /** Whether the items of a shard with that hash may have been fed, going by its line and what was changed since. */
  wasFed(
    { shard, items_sha256: planned }: Pick<PlannedShard, 'shard' | 'items_sha256'>,
    items: string,
  ): boolean {
    return items === planned || this.#changed.get(shard)?.has(items) === true;
  }

  /** Null for a line that was torn off. */
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
      throw new Failure('internal', `plan.jsonl line ${this.#torn} is damaged, and others build on it`);
    }
    if (line.shard > this.shards)
      throw this.#broken(`plans shard ${line.shard}, but ${this.shards} comes next`);
    this.#enter(line.pass);
    const items = itemsOf(line.seqs, this.#lastSeq.get(line.lane) ?? -1);
    if (items === null) throw this.#broken('has seqs that do not ascend within its lane');
    if (items !== line.items) throw this.#broken('names another number of items than of seqs');
    this.#lastSeq.set(line.lane, line.seqs.at(-1)![1]);
    this.shards++;
    this.#passShards++;
    this.#passItems += line.items;
    if (line.pass === 1) this.items += line.items;
    return true;
  }

  #takeClosing(line: PlanClosed): boolean {
    if (line.pass <= this.closed.length) return false;
    this.#enter(line.pass);
    const bySource = line.items_by_source.reduce((sum, items) => sum + items, 0);
    if (line.shards !== this.#passShards || line.items !== this.#passItems || bySource !== line.items) {
      throw this.#broken(`closes pass ${line.pass} with totals that are not those of its shards`);
    }
    this.closed.push(line);
    return true;
  }

  #enter(pass: number): void {
    if (pass === this.pass && !this.isClosed) return;
    if (pass !== this.pass + 1 || (this.pass > 0 && !this.isClosed)) {
      throw this.#broken(`belongs to pass ${pass}, which is not open there`);
    }
    this.pass = pass;
    this.#lastSeq.clear();
    this.#passShards = 0;
    this.#passItems = 0;
  }

  #broken(what: string): Failure {
    return new Failure('internal', `plan.jsonl line ${this.#lines} ${what}`);
  }
}
