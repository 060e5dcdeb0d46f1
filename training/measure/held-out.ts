import { FeatureExtractor } from '../../src/guard-server/lite/features.ts';
import { LiteNetwork } from '../../src/guard-server/lite/network.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { assignFolds } from '../fit/folds.ts';
import { quantise } from '../fit/quantise.ts';
import { seededRandom } from '../random.ts';
import { trainNetwork } from '../fit/trainer.ts';

/** Each fold is judged by a network trained on the other folds. */
const FOLDS = 4;

/**
 * Logits of every row per output, from a network that has not seen the row or its near-duplicates. Calibration and
 * thresholds are fitted to them, so that the dev set stays unused until the evaluation. Trains FOLDS networks.
 */
export function heldOutLogits(
  rows: readonly LabelledText[],
  seed: number,
  report: (line: string) => void,
): number[][] {
  const folds = assignFolds(rows, FOLDS, seededRandom(seed));
  const logits: number[][] = new Array<number[]>(rows.length);
  for (let fold = 0; fold < FOLDS; fold++) {
    report(`training on all but fold ${fold + 1} of ${FOLDS}`);
    const extractor = new FeatureExtractor();
    const seen = rows.filter((_, index) => folds[index] !== fold);
    const network = new LiteNetwork(
      quantise(trainNetwork(seen, extractor, seededRandom(seed + 1 + fold))),
      extractor,
    );
    rows.forEach((row, index) => {
      if (folds[index] === fold) logits[index] = Array.from(network.logits(row.text));
    });
  }
  return logits;
}
