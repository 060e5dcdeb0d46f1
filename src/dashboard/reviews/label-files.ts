import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import type { ItemContent } from '../api/items.ts';
import type { Review } from '../api/reviews.ts';
import type { RunIndex } from '../index/run-index.ts';
import { labelStudioTask } from './label-studio.ts';

const BATCH = 256;

/** Input for labels: the seqs of the reviewed items in ascending order. */
interface Labelled extends Pick<RunIndex, 'lines' | 'reviews'> {
  readonly seqs: readonly number[];
  readonly restrictions: Restrictions;
}

/** The reviewed items of a run, as of now. */
export async function labelled(index: RunIndex, signal: AbortSignal): Promise<Labelled> {
  const { lines, reviews } = index;
  const restrictions = await index.currentRestrictions(signal);
  return { lines, reviews, restrictions, seqs: await index.seqsOf('reviewed', signal) };
}

/** The text of labels.jsonl: what the last review says of every reviewed item that is not restricted, in corpus order. */
export async function* labelsJsonl(input: Labelled, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const [line, review] of reviewed(input, signal)) yield labelLines(line, review);
}

/** The same items as tasks of Label Studio. `contentOf` answers with what may be shown of an item, and logs it. */
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
