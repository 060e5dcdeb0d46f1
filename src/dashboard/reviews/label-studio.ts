import type { Review } from '../api/reviews.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';

/** Names of the tags in the labeling configuration, see docs/dashboard.md. */
const OBJECT = 'item';
const DECISION = 'decision';
const CATEGORIES = 'categories';
const NOTE = 'note';

/**
 * An item as a task of Label Studio's basic JSON format (https://labelstud.io/guide/predictions): where it is, but nothing of
 * what it holds; what the guard found, as a prediction; what a person decided, as an annotation.
 */
export function labelStudioTask(line: OutcomeLine, review: Review): object {
  const { run, seq, id, source, part, turn, content_sha256, fingerprint, score } = line;
  const predicted = [
    ...choices(DECISION, line.decision === null ? [] : [line.decision]),
    ...choices(CATEGORIES, line.subcategory_flags ?? []),
  ];
  const annotated = [
    ...choices(DECISION, review.decision === null ? [] : [review.decision]),
    ...choices(CATEGORIES, review.categories ?? []),
    ...(review.note === '' ? [] : [result(NOTE, 'textarea', { text: [review.note] })]),
  ];
  return {
    data: {
      [OBJECT]: source.row === null ? source.path : `${source.path} row ${source.row}`,
      ...{ run, seq, id, path: source.path, row: source.row, part, turn, content_sha256 },
      ...{ reviewed_by: review.by, reviewed_at: review.at, seen: review.seen },
    },
    predictions:
      score === null ? [] : [{ model_version: fingerprint ?? 'unknown', score, result: predicted }],
    annotations: [{ result: annotated }],
  };
}

function choices(name: string, chosen: readonly string[]): object[] {
  return chosen.length === 0 ? [] : [result(name, 'choices', { choices: chosen })];
}

function result(name: string, type: string, value: object): object {
  return { from_name: name, to_name: OBJECT, type, value };
}
