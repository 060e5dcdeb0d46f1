import type { Decision } from '../../domain/outcome.ts';
import type { CategoryKey } from '../../domain/taxonomy.ts';

/** A person's decision on an item. The last one of an item counts. */
export interface Review {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Who, as the server knows: the user of its process. */
  readonly by: string;
  /** Null: what was decided before is taken back. Such an item counts as not reviewed and is in no label file. */
  readonly decision: Decision | null;
  /** Whether that is the run's decision. */
  readonly agrees: boolean;
  readonly categories: readonly CategoryKey[] | null;
  readonly note: string;
}
