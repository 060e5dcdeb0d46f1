import { OUTPUTS, OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import { isLookAlike } from '../corpora/look-alikes.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { PLAIN_TEXTS } from '../corpora/plain-texts.ts';

/** Max share of benign look-alikes, and of all benign text, that is flagged on the texts thresholds are chosen on. */
export const LOOK_ALIKE_FLAG_RATE = 0.1;
export const BENIGN_FLAG_RATE = 0.05;

/** Decimals of a threshold. */
const DECIMALS = 2;

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

/** Our own texts are too like each other to tell how much of other people's is flagged. */
function isPublicBenign({ source, targets }: LabelledText): boolean {
  return targets[OVERALL] === 0 && source !== PLAIN_TEXTS;
}

function roundUp(threshold: number): number {
  const unit = 10 ** DECIMALS;
  return Math.min(1, Math.ceil(threshold * unit) / unit);
}

/**
 * The default thresholds per output, from probabilities of held-out texts. The overall threshold bounds how much benign
 * text is flagged, look-alikes in particular; a category's has the best F1.
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
    const benign = scores.filter((_, index) => isPublicBenign(rows[index]!));
    const lookAlikes = scores.filter((_, index) => isLookAlike(rows[index]!));
    return roundUp(
      Math.max(
        thresholdForRate(benign, BENIGN_FLAG_RATE),
        thresholdForRate(lookAlikes, LOOK_ALIKE_FLAG_RATE),
      ),
    );
  });
}
