import { ORIGINAL_ROLES, type OriginalRole, type RoleCounts } from '../../../domain/original-role.ts';

/** Counts the turns of a conversation by their original roles, from the first turn on. */
export class RoleCounter {
  readonly #originals: readonly (OriginalRole | null)[];
  readonly #counts = new Map<OriginalRole, number>();
  #next = 0;
  #current: RoleCounts | null = null;

  /** `originals`: one per turn; null for a turn that is judged in its own role or not at all. */
  constructor(originals: readonly (OriginalRole | null)[]) {
    this.#originals = originals;
  }

  /** The counts of the first `turns` turns; null if all have their own role. `turns` must not decrease between calls. */
  upTo(turns: number): RoleCounts | null {
    let isNew = false;
    for (; this.#next < turns; this.#next++) {
      const original = this.#originals[this.#next]!;
      if (original === null) continue;
      this.#counts.set(original, (this.#counts.get(original) ?? 0) + 1);
      isNew = true;
    }
    if (isNew) this.#current = this.#inOrder();
    return this.#current;
  }

  all(): RoleCounts | null {
    return this.upTo(this.#originals.length);
  }

  #inOrder(): RoleCounts {
    const ordered: Partial<Record<OriginalRole, number>> = {};
    for (const role of ORIGINAL_ROLES) {
      const count = this.#counts.get(role);
      if (count !== undefined) ordered[role] = count;
    }
    return ordered;
  }
}
