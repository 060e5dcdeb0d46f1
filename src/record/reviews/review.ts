import type { Decision } from '../../domain/outcome.ts';
import type { CategoryKey } from '../../domain/taxonomy.ts';

/** How far people are with the items of a run. Reviews that were taken back do not count. */
export interface ReviewProgress {
  /** Reviewed items that the run decided to review or block, … */
  readonly flagged: number;
  /** … and all reviewed ones. */
  readonly reviewed: number;
  /** Reviewed items on which a person decided otherwise than the run. */
  readonly overturned: number;
}

/** A person's word that a content restricted for Sexual Content may be shown to those who review its run. */
export interface Release {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly by: string;
  readonly note: string;
}

/** A person's decision on an item. The last one of an item counts. */
export interface Review {
  readonly seq: number;
  /** Number of the review among those of its item, from 1. Reviews are only appended, so it is an id. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Who: the name that the reviewer gave, else the user of the server's process. */
  readonly by: string;
  /** Null: what was decided before is taken back. Such an item counts as not reviewed and is in no label file. */
  readonly decision: Decision | null;
  /** The run's decision; null for an item that was not judged. */
  readonly run_decision: Decision | null;
  /** Whether both are the same. */
  readonly agrees: boolean;
  readonly categories: readonly CategoryKey[] | null;
  readonly note: string;
  /** Whether the reviewer was shown the content of the item before deciding. */
  readonly seen: boolean;
}
