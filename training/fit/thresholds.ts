import { OUTPUTS, OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import { isLookAlike } from '../corpora/look-alikes.ts';
import type { LabelledText } from '../corpora/corpus.ts';

/** At most this share of benign look-alikes is flagged, and of benign text altogether, where thresholds are chosen. */
export const LOOK_ALIKE_FLAG_RATE = 0.1;
export const BENIGN_FLAG_RATE = 0.04;

/** Thresholds are kept to four decimals. */
const DECIMALS = 4;

/** The lowest threshold at which at most `rate` of the scores reach it. */
function thresholdForRate(scores: readonly number[], rate: number): number {
  const descending = scores.toSorted((a, b) => b - a);
  return descending[Math.floor(descending.length * rate)] ?? 0;
}

/** The threshold with the best F1 of flagging scores that reach it, for labels 0 or 1. */
function thresholdForF1(scores: readonly number[], labels: readonly number[]): number {
  const order = scores.map((_, index) => index).sort((a, b) => scores[b]! - scores[a]!);
  const positives = labels.reduce((sum, label) => sum + label, 0);
  let [best, threshold, found] = [-1, 1, 0];
  order.forEach((index, position) => {
    found += labels[index]!;
    const f1 = (2 * found) / (position + 1 + positives);
    if (f1 > best) [best, threshold] = [f1, scores[index]!];
  });
  return threshold;
}

function roundUp(threshold: number): number {
  const unit = 10 ** DECIMALS;
  return Math.min(1, Math.ceil(threshold * unit) / unit);
}

/**
 * The default thresholds by output, from probabilities of texts the model has not learnt from. The overall one
 * bounds how much harmless text is flagged, above all text that only sounds alarming; a category's balances
 * precision and recall.
 */
export function chooseThresholds(
  rows: readonly LabelledText[],
  probabilities: readonly (readonly number[])[],
): number[] {
  return Array.from({ length: OUTPUTS }, (_, output) => {
    const scores = probabilities.map((row) => row[output]!);
    if (output !== OVERALL) {
      return roundUp(
        thresholdForF1(
          scores,
          rows.map((row) => row.targets[output]!),
        ),
      );
    }
    const benign = scores.filter((_, index) => rows[index]!.targets[OVERALL] === 0);
    const lookAlikes = scores.filter((_, index) => isLookAlike(rows[index]!));
    return roundUp(
      Math.max(
        thresholdForRate(benign, BENIGN_FLAG_RATE),
        thresholdForRate(lookAlikes, LOOK_ALIKE_FLAG_RATE),
      ),
    );
  });
}
