import type { LABEL_FILES } from '../api/reviews.ts';
import type { LinesBySeq } from '../index/lines-by-seq.ts';
import { labelStudioTask } from './label-studio.ts';
import { labelLines } from './labels.ts';
import type { Restrictions } from '../../record/restricted/restrictions.ts';
import type { Reviews } from './reviews.ts';

export type LabelFile = (typeof LABEL_FILES)[number];

const BATCH = 256;

/** What labels are made from. */
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
