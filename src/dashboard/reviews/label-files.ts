import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import type { LABEL_FILES, Review } from '../api/reviews.ts';
import type { LinesBySeq } from '../index/lines-by-seq.ts';
import { labelStudioTask } from './label-studio.ts';
import type { Reviews } from './reviews.ts';

export type LabelFile = (typeof LABEL_FILES)[number];

const BATCH = 256;

/** Input for labels. */
interface Labelled {
  readonly lines: LinesBySeq;
  readonly reviews: Reviews;
  readonly restrictions: Pick<Restrictions, 'by'>;
}

/** The text of a file with the last review of every reviewed item that is not restricted, in corpus order. */
export async function* labelFile(
  file: LabelFile,
  { lines, reviews, restrictions }: Labelled,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  await reviews.readOn(signal);
  const seqs = reviews.seqs();
  let tasks = 0;
  if (file === 'label-studio.json') yield '[';
  for (let from = 0; from < seqs.length; from += BATCH) {
    signal.throwIfAborted();
    for (const line of await lines.read(seqs.slice(from, from + BATCH))) {
      const review = reviews.last(line.seq);
      // Taken back meanwhile.
      if (review === null || restrictions.by(line) !== null) continue;
      if (file === 'labels.jsonl') yield labelLines(line, review);
      else yield `${tasks++ === 0 ? '\n' : ',\n'}${JSON.stringify(labelStudioTask(line, review))}`;
    }
  }
  if (file === 'label-studio.json') yield '\n]\n';
}

/** A line of labels.jsonl, as `replay --labels` reads it. */
interface LabelLine {
  readonly id: string;
  readonly content_sha256: string | null;
  readonly part: string | null;
  /** Null: whether the item is hazardous at all. */
  readonly category: CategoryKey | null;
  readonly label: boolean;
  /** Name of the reviewer, and whether the content was shown to them. */
  readonly by: string;
  readonly seen: boolean;
}

/**
 * What a review says of an item: whether it is hazardous, which is anything but `allow`, and for each category whether it
 * belongs to it, if the review names categories.
 */
function labelLines({ id, content_sha256, part }: OutcomeLine, review: Review): string {
  const { decision, categories, by, seen } = review;
  const of = (category: CategoryKey | null, label: boolean): string => {
    const line: LabelLine = { id, content_sha256, part, category, label, by, seen };
    return `${JSON.stringify(line)}\n`;
  };
  const lines = [of(null, decision !== 'allow')];
  if (categories !== null) {
    for (const key of CATEGORY_KEYS) lines.push(of(key, categories.includes(key)));
  }
  return lines.join('');
}
