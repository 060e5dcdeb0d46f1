import { type Decision, DECISIONS, type OutcomeLine } from '../../domain/outcome.ts';
import type { CategoryKey } from '../../domain/taxonomy.ts';

/** Review progress of a run. Reopened items count as not reviewed. */
export interface ReviewProgress {
  /** Reviewed items that the run decided to review or block. */
  readonly flagged: number;
  /** All reviewed items. */
  readonly reviewed: number;
  /** Reviewed items on which a person's decision differs from the run's. */
  readonly overturned: number;
  /** Flagged items that were decided, but are open because this run decides more severely. */
  readonly reopened: number;
  /** Flagged items whose content the previous run did not have; null if there is no such run. */
  readonly fresh: number | null;
}

/** A person's permission to show content restricted for Sexual Content to the reviewers of its run. */
export interface Release {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly by: string;
  readonly note: string;
}

/** A person's decision on an item. It applies to its content in every run. */
export interface Review {
  /** Run and item where it was made. */
  readonly run: string;
  readonly seq: number;
  /** Number of the review among those of its content, from 1. Reviews are only appended, so it is an id. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Name given by the reviewer, or else the user of the server's process. */
  readonly by: string;
  /** Null takes back the last decision, so the one before it counts again. */
  readonly decision: Decision | null;
  /** The decision and score of that run; null for an item that was not judged. */
  readonly run_decision: Decision | null;
  readonly score: number | null;
  readonly categories: readonly CategoryKey[] | null;
  readonly note: string;
  /** Whether the reviewer was shown the content of the item before deciding. */
  readonly seen: boolean;
}

/** The review of an item that counts. */
export interface CurrentReview extends Pick<Review, 'number' | 'at' | 'by' | 'score'> {
  readonly decision: Decision;
  /** Whether it was made in another run. */
  readonly carried: boolean;
  /** Whether the run decided the same. */
  readonly agrees: boolean;
  /** Whether the item is still open because its run decides more severely than the run that was reviewed. */
  readonly reopened: boolean;
}

/** Key for the decisions on an item: its content, or its position if it could not be read. */
export type DecidedItem = Pick<OutcomeLine, 'run' | 'seq' | 'content_sha256'>;

export function decisionKey({ run, seq, content_sha256 }: DecidedItem): string {
  return content_sha256 ?? `${run} ${seq}`;
}

/** The decisions that were not taken back, oldest first. */
export function withoutTakenBack(reviews: readonly Review[]): Review[] {
  const standing: Review[] = [];
  for (const review of reviews) {
    if (review.decision === null) standing.pop();
    else standing.push(review);
  }
  return standing;
}

/** Severity of a decision; an item that was not judged counts as allowed. */
function severityOf(decision: Decision | null): number {
  return Math.max(0, DECISIONS.indexOf(decision ?? 'allow'));
}

/** Severity that the `standing` decisions cover: an item is open again in a run that decides more severely. */
export function heldSeverity(standing: readonly Review[]): number {
  const last = severityOf(standing.at(-1)?.decision ?? null);
  return Math.max(last, ...standing.map(({ run_decision }) => severityOf(run_decision)));
}

/** The review that counts for an item of a run; null without one. */
export function currentReview(
  reviews: readonly Review[],
  line: Pick<OutcomeLine, 'run' | 'decision'>,
): CurrentReview | null {
  const standing = withoutTakenBack(reviews);
  const last = standing.at(-1);
  if (last === undefined) return null;
  const { number, at, by, score } = last;
  const decision = last.decision!;
  return {
    ...{
      number,
      at,
      by,
      score,
      decision,
      carried: last.run !== line.run,
      agrees: decision === line.decision,
    },
    reopened: severityOf(line.decision) > heldSeverity(standing),
  };
}
