import { type Item, laneOf, type Lane, LANES } from '../domain/item.ts';
import { type ItemCode, ITEM_CODES } from '../domain/item-error.ts';

/** Numbers of items, counted or predicted. */
export interface ItemCounts {
  /** Those that a guard is asked about, by lane. */
  readonly lanes: Readonly<Record<Lane, number>>;
  /** Those that end in an error when they are read, by code. */
  readonly errors: Readonly<Partial<Record<ItemCode, number>>>;
}

/** Adds up items. */
export class ItemTally {
  readonly #lanes = new Map<Lane, number>();
  readonly #errors = new Map<ItemCode, number>();

  add(item: Item): void {
    const code = item.settled?.error?.code;
    if (code === undefined) this.#lanes.set(laneOf(item), (this.#lanes.get(laneOf(item)) ?? 0) + 1);
    else this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1);
  }

  /** All items, not rounded. */
  get total(): number {
    let total = 0;
    for (const count of [...this.#lanes.values(), ...this.#errors.values()]) total += count;
    return total;
  }

  /** Adds the numbers of another tally, each multiplied by `factor`. */
  addScaled(other: ItemTally, factor: number): void {
    for (const [lane, count] of other.#lanes) {
      this.#lanes.set(lane, (this.#lanes.get(lane) ?? 0) + count * factor);
    }
    for (const [code, count] of other.#errors) {
      this.#errors.set(code, (this.#errors.get(code) ?? 0) + count * factor);
    }
  }

  /** Rounded to whole items. */
  get counts(): ItemCounts {
    const lanes = Object.fromEntries(
      LANES.map((lane) => [lane, Math.round(this.#lanes.get(lane) ?? 0)]),
    ) as Record<Lane, number>;
    const errors: Partial<Record<ItemCode, number>> = {};
    for (const code of ITEM_CODES) {
      const count = this.#errors.get(code);
      if (count !== undefined) errors[code] = Math.round(count);
    }
    return { lanes, errors };
  }
}

/** All items to be judged. */
export function judgedOf({ lanes }: ItemCounts): number {
  return Object.values(lanes).reduce((sum, count) => sum + count, 0);
}

/** All items that end in an error when they are read. */
export function failedOf({ errors }: ItemCounts): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0);
}
