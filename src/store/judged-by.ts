import { hash } from 'node:crypto';

/** What a verdict depends on besides its content: the model, and how items are judged that do not go to it in one piece. */
export interface JudgedBy {
  /** Id of the guard's fingerprint. */
  readonly fingerprint: string;
  /** Canonical text of everything else that a verdict depends on. */
  readonly judging: string;
}

/** Bytes of a mark in the key of a verdict. */
export const JUDGED_BY_BYTES = 8;

const marks = new WeakMap<JudgedBy, Buffer>();

/** First bytes of its SHA-256. Callers look up many contents with the same object, so the mark is kept with it. */
export function markOf(judgedBy: JudgedBy): Buffer {
  const known = marks.get(judgedBy);
  if (known !== undefined) return known;
  const { fingerprint, judging } = judgedBy;
  const mark = hash('sha256', `${fingerprint}\n${judging}`, 'buffer').subarray(0, JUDGED_BY_BYTES);
  marks.set(judgedBy, mark);
  return mark;
}
