import type { Unsaved } from './review-queue.ts';

/** What is kept of a decision that is not saved: what was decided and noted, and nothing of the item's content. */
export type Waiting = Pick<Unsaved, 'seq' | 'review' | 'shown'>;

/** Whose decisions on which run. */
interface Owner {
  readonly run: string;
  readonly reviewer: string;
}

const prefixOf = ({ run, reviewer }: Owner): string => `guardsweep.unsaved ${run} ${reviewer} `;

/** Keeps a decision in the browser until it is saved: it outlives the page, the session and the server. */
export function keepUnsaved(owner: Owner, { seq, review, shown }: Waiting): void {
  try {
    localStorage.setItem(`${prefixOf(owner)}${seq}`, JSON.stringify({ seq, review, shown }));
  } catch {
    // A browser that keeps nothing: it waits as long as the page.
  }
}

export function dropUnsaved(owner: Owner, seq: number): void {
  try {
    localStorage.removeItem(`${prefixOf(owner)}${seq}`);
  } catch {
    // Nothing is kept.
  }
}

/** At most `limit` decisions that were kept, in corpus order. */
export function keptUnsaved(owner: Owner, limit: number): readonly Waiting[] {
  const prefix = prefixOf(owner);
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(prefix))
      .map((key) => JSON.parse(localStorage.getItem(key) ?? 'null') as Waiting)
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit);
  } catch {
    return [];
  }
}
