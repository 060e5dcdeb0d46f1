import type { Decision } from '../../domain/outcome.ts';
import type { CategoryKey } from '../../domain/taxonomy.ts';

/** A person's decision on an item. The last one of an item counts. */
export interface Review {
  readonly seq: number;
  /** Which review of its item it is, from 1. Reviews are only appended, so this names it. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Who: the name that the reviewer gave, else the user of the server's process. */
  readonly by: string;
  /** Null: what was decided before is taken back. Such an item counts as not reviewed and is in no label file. */
  readonly decision: Decision | null;
  /** Whether that is the run's decision. */
  readonly agrees: boolean;
  readonly categories: readonly CategoryKey[] | null;
  readonly note: string;
  /** Whether the reviewer was shown the content of the item before deciding. */
  readonly seen: boolean;
}
