import { logarithm } from './elementary.ts';
import { FeatureExtractor } from './features.ts';
import { RowSums } from './row-sums.ts';
import { HIDDEN, OUTPUTS, type LiteWeights } from './weights-file.ts';

/** Penalty on a window's logit per natural logarithm of the number of windows. */
export const WINDOW_PENALTY = 1.5;

/**
 * Runs the network over text. Table rows are summed as integers, so the order of features does not matter, and the
 * floating-point part is a fixed sequence of basic operations: the logits are equal on every machine.
 * Keeps scratch memory of fixed size between calls; not safe to share between threads.
 */
export class LiteNetwork {
  readonly #weights: LiteWeights;
  readonly #extractor: FeatureExtractor;
  readonly #rowSums: RowSums;
  readonly #previous = new Int32Array(HIDDEN);
  readonly #hidden = new Float64Array(HIDDEN);

  constructor(weights: LiteWeights) {
    this.#weights = weights;
    this.#extractor = new FeatureExtractor(weights.vocabulary);
    this.#rowSums = new RowSums(weights.table);
  }

  /**
   * Logits of a text per output. A short text is judged as a whole. In a longer one, every piece is judged, alone and
   * with the one before it, and an output is the highest logit minus a penalty that grows with the number of pieces:
   * harmless surroundings do not dilute a hazardous passage, and length alone does not make a text hazardous. Every
   * piece is read once, so time is linear in the length.
   */
  logits(text: string): Float64Array {
    const highest = new Float64Array(OUTPUTS).fill(-Infinity);
    const previous = this.#previous.fill(0);
    let previousFeatures = 0;
    let pieces = 0;
    this.#extractor.forEachPiece(text, (buckets) => {
      this.#rowSums.add(buckets);
      const { sums } = this.#rowSums;
      this.#judge(sums, buckets.length, highest);
      if (pieces++ > 0) {
        for (let unit = 0; unit < HIDDEN; unit++) previous[unit]! += sums[unit]!;
        this.#judge(previous, previousFeatures + buckets.length, highest);
      }
      previous.set(sums);
      previousFeatures = buckets.length;
    });
    const penalty = WINDOW_PENALTY * logarithm(pieces);
    return highest.map((logit) => logit - penalty);
  }

  /** Raises `highest` to the logits for this number of features, whose table rows sum to `sums`. */
  #judge(sums: Int32Array, features: number, highest: Float64Array): void {
    const { scale, hiddenBias, output, outputBias } = this.#weights;
    const hidden = this.#hidden;
    const length = Math.sqrt(Math.max(1, features));
    for (let unit = 0; unit < HIDDEN; unit++) {
      const value = (sums[unit]! * scale[unit]!) / length + hiddenBias[unit]!;
      hidden[unit] = value > 0 ? value : 0;
    }
    for (let index = 0; index < OUTPUTS; index++) {
      let logit = outputBias[index]!;
      const row = index * HIDDEN;
      for (let unit = 0; unit < HIDDEN; unit++) logit += output[row + unit]! * hidden[unit]!;
      if (logit > highest[index]!) highest[index] = logit;
    }
  }
}
