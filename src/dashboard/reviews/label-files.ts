import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import type { ItemContent } from '../api/items.ts';
import type { Review } from '../api/reviews.ts';
import type { RunIndex } from '../index/run-index.ts';
import { labelStudioTask } from './label-studio.ts';

const BATCH = 256;

/** Input for labels; `seqs` are those of the reviewed items in ascending order. */
interface Labelled extends Pick<RunIndex, 'lines' | 'reviews'> {
  readonly seqs: readonly number[];
  readonly restrictions: Restrictions;
}

/** Collects the currently reviewed items of a run. */
export async function labelled(index: RunIndex, signal: AbortSignal): Promise<Labelled> {
  const { lines, reviews } = index;
  const restrictions = await index.currentRestrictions(signal);
  return { lines, reviews, restrictions, seqs: await index.seqsOf('reviewed', signal) };
}

/** The text of labels.jsonl: the last review of every reviewed item that is not restricted, in corpus order. */
export async function* labelsJsonl(input: Labelled, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const [line, review] of reviewed(input, signal)) yield labelLines(line, review);
}

/** Like `labelsJsonl`, but as tasks of Label Studio. `contentOf` returns what may be shown of an item, and logs it. */
export async function* labelStudioJson(
  input: Labelled,
  contentOf: (seq: number) => Promise<ItemContent | null>,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let before = '[\n';
  for await (const [line, review] of reviewed(input, signal)) {
    yield before + JSON.stringify(labelStudioTask(line, review, await contentOf(line.seq)));
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

async function* reviewed(
  { lines, reviews, seqs, restrictions }: Labelled,
  signal: AbortSignal,
): AsyncGenerator<readonly [OutcomeLine, Review], void> {
  for (let from = 0; from < seqs.length; from += BATCH) {
    signal.throwIfAborted();
    for (const line of await lines.read(seqs.slice(from, from + BATCH))) {
      const review = reviews.last(line);
      // The review may have been taken back in the meantime.
      if (review !== null && restrictions.by(line) === null) yield [line, review];
    }
  }
}

/** A line of labels.jsonl, as read by `replay --labels`. */
interface LabelLine {
  readonly id: string;
  readonly content_sha256: string | null;
  readonly part: string | null;
  /** Null if the label is about whether the item is hazardous at all. */
  readonly category: CategoryKey | null;
  readonly label: boolean;
  /** Name of the reviewer, and whether the content was shown to them. */
  readonly by: string;
  readonly seen: boolean;
}

/**
 * Labels from a review: whether the item is hazardous, which is any decision but `allow`, and, if the review names
 * categories, whether it belongs to each category.
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
