import { LiteNetwork } from '../../src/guard-server/lite/network.ts';
import { decodeWeights } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { assignFolds } from '../fit/folds.ts';
import { trainNetworks } from '../fit/train-networks.ts';
import { seededRandom } from '../random.ts';

/** Each fold is judged by a network trained on the other one. */
const FOLDS = 2;

/**
 * Logits of every row per output, from a network that has not seen the row or its near-duplicates. Calibration and
 * thresholds are fitted to them, so that the dev set stays unused until the evaluation. Trains FOLDS networks.
 */
export async function heldOutLogits(
  rows: readonly LabelledText[],
  seed: number,
  report: (line: string) => void,
): Promise<number[][]> {
  const folds = assignFolds(rows, FOLDS, seededRandom(seed));
  const sets = Array.from({ length: FOLDS }, (_, fold) => ({
    rows: rows.filter((_row, index) => folds[index] !== fold),
    seed: seed + 1 + fold,
  }));
  const files = await trainNetworks(sets, report);
  const networks = files.map((file) => new LiteNetwork(decodeWeights(file)));
  return rows.map(({ text }, index) => Array.from(networks[folds[index]!]!.logits(text)));
}
