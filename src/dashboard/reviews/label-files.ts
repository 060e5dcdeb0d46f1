import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import type { ItemContent } from '../api/items.ts';
import type { Review } from '../api/reviews.ts';
import type { LinesBySeq } from '../index/lines-by-seq.ts';
import { labelStudioTask } from './label-studio.ts';
import type { Reviews } from './reviews.ts';

const BATCH = 256;

/** Input for labels. */
export interface Labelled {
  readonly lines: LinesBySeq;
  readonly reviews: Reviews;
  readonly restrictions: Pick<Restrictions, 'by'>;
}

/** The text of labels.jsonl: what the last review says of every reviewed item that is not restricted, in corpus order. */
export async function* labelsJsonl(labelled: Labelled, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const [line, review] of reviewed(labelled, signal)) yield labelLines(line, review);
}

/** The same items as tasks of Label Studio. `contentOf` answers with what may be shown of an item, and logs it. */
export async function* labelStudioJson(
  labelled: Labelled,
  contentOf: (seq: number) => Promise<ItemContent | null>,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let before = '[\n';
  for await (const [line, review] of reviewed(labelled, signal)) {
    yield before + JSON.stringify(labelStudioTask(line, review, await contentOf(line.seq)));
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

async function* reviewed(
  { lines, reviews, restrictions }: Labelled,
  signal: AbortSignal,
): AsyncGenerator<readonly [OutcomeLine, Review], void> {
  await reviews.readOn(signal);
  const seqs = reviews.seqs();
  for (let from = 0; from < seqs.length; from += BATCH) {
    signal.throwIfAborted();
    for (const line of await lines.read(seqs.slice(from, from + BATCH))) {
      const review = reviews.last(line.seq);
      // Taken back meanwhile.
      if (review !== null && restrictions.by(line) === null) yield [line, review];
    }
  }
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
