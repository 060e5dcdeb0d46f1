import type { ContentProblem } from '../../../src/dashboard/api/items.ts';
import type { CurrentReview } from '../../../src/dashboard/api/reviews.ts';
import type { Coverage } from '../../../src/domain/coverage.ts';
import { count, localDay } from '../ui/format.ts';
import { CATEGORIES, isCategoryKey, OTHER_CATEGORIES } from '../../../src/domain/taxonomy.ts';

const LABELS: ReadonlyMap<string, string> = new Map(CATEGORIES.map(({ key, label }) => [key, label]));

/** Human-readable name of a category. Names outside the taxonomy, which a guard may use, are unchanged. */
export function categoryLabel(key: string): string {
  if (isCategoryKey(key)) return LABELS.get(key)!;
  if (key === OTHER_CATEGORIES) return 'Other categories';
  if (key === 'none') return 'No category';
  return key === 'other' ? 'Outside the taxonomy' : key;
}

/** A probability with three digits, never rounded to a certainty. */
export function probability(score: number): string {
  if (score > 0 && score < 0.001) return '<0.001';
  if (score > 0.999 && score < 1) return '>0.999';
  return score.toFixed(3);
}

/**
 * The decision made before a run judged the content more severely: `decided allow on 12 Nov 2026 at 0.410, now 0.930`.
 */
export function reopenedWords({ decision, at, score }: CurrentReview, now: number | null): string {
  const was = score === null ? '' : ` at ${probability(score)}`;
  return `decided ${decision} on ${localDay(at)}${was}${now === null ? '' : `, now ${probability(now)}`}`;
}

const UNITS: Readonly<Record<Coverage['unit'], string>> = {
  chars: 'characters',
  turns: 'turns',
  frames: 'frames',
  seconds: 'seconds',
};

/** How much of an item was judged, and where the decisive part begins. */
export function coverageInWords({ unit, judged, total, worst_at }: Coverage): string {
  const amount = (value: number): string => count(Math.round(value * 10) / 10);
  const all = judged >= total;
  const share = all
    ? `all ${amount(total)} ${UNITS[unit]}`
    : `${amount(judged)} of ${amount(total)} ${UNITS[unit]}`;
  const where = worst_at === null ? '' : `; the part that decided begins at ${amount(worst_at)}`;
  return `${share}${where}`;
}

/** Advice when content cannot be shown. */
export const ADVICE: Readonly<Record<Exclude<ContentProblem, 'restricted'>, string>> = {
  not_your_run: 'Ask the person who made this run, or have them start the dashboard themselves.',
  outside_root: 'Start the dashboard with --root and the folder that holds these files.',
  source_missing: 'The file was moved or deleted after the run. Put it back where it was, and try again.',
  source_changed: 'The file is not the one that was judged. Judge it again in a new run.',
  not_readable: 'Check that you may read the file, and that its disk is connected.',
  decoding_failed:
    'The file is damaged, or of a kind that cannot be decoded here. The verdict is about what could be read during the run.',
};
