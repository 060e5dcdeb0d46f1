import type { ItemContent } from '../api/items.ts';
import type { Review } from '../api/reviews.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';

/** Names of the tags in the labeling configuration, see docs/dashboard.md. */
const OBJECT = 'item';
const DECISION = 'decision';
const CATEGORIES = 'categories';
const NOTE = 'note';

/**
 * Converts an item to a task of Label Studio's basic JSON format (https://labelstud.io/guide/predictions): its location
 * and the text that may be shown, the guard's findings as a prediction, and a person's decision as an annotation.
 */
export function labelStudioTask(line: OutcomeLine, review: Review, content: ItemContent | null): object {
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
      ...{ text: textOf(content), not_shown: notShown(content) },
      ...{ run, seq, id, path: source.path, row: source.row, part, turn, content_sha256 },
      ...{ reviewed_by: review.by, reviewed_at: review.at, seen: review.seen },
    },
    predictions:
      score === null ? [] : [{ model_version: fingerprint ?? 'unknown', score, result: predicted }],
    annotations: [{ result: annotated }],
  };
}

/** Always a string: an import fails without the text that the configuration names. */
function textOf(content: ItemContent | null): string {
  switch (content?.kind) {
    case 'text':
      return content.text;
    case 'pair':
      return `user: ${content.prompt}\n\nassistant: ${content.response}`;
    case 'conversation':
      return content.turns.map(({ role, text }) => `${role}: ${text}`).join('\n\n');
    case 'image':
      return content.caption ?? '';
    case 'audio':
      return content.transcript ?? '';
    default:
      return '';
  }
}

/** What is missing from the task and why; null if nothing is. */
function notShown(content: ItemContent | null): string | null {
  if (content === null) return 'It has no outcome.';
  if (content.kind === 'unavailable') return content.message;
  if (content.kind === 'image' || content.kind === 'audio')
    return `The ${content.kind} is in the file at path.`;
  return content.cut ? 'It is long: a part of it is left out.' : null;
}

function choices(name: string, chosen: readonly string[]): object[] {
  return chosen.length === 0 ? [] : [result(name, 'choices', { choices: chosen })];
}

function result(name: string, type: string, value: object): object {
  return { from_name: name, to_name: OBJECT, type, value };
}
