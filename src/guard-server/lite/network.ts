import { logarithm } from './elementary.ts';
import type { FeatureExtractor } from './features.ts';
import { RowSums } from './row-sums.ts';
import { HIDDEN, OUTPUTS, type LiteWeights } from './weights-file.ts';

/**
 * Runs the network over a text. Table rows are summed as integers, so the order of features does not matter, and the
 * floating-point part is a fixed sequence of basic operations: the logits are equal on every machine.
 * Keeps scratch memory of fixed size between calls; not safe to share between threads.
 */
export class LiteNetwork {
  readonly #weights: LiteWeights;
  readonly #extractor: FeatureExtractor;
  readonly #rowSums: RowSums;
  readonly #windowSums = new Int32Array(HIDDEN);
  readonly #hidden = new Float64Array(HIDDEN);

  constructor(weights: LiteWeights, extractor: FeatureExtractor) {
    this.#weights = weights;
    this.#extractor = extractor;
    this.#rowSums = new RowSums(weights.table);
  }

  /**
   * Logits of a text per output. A short text is judged as a whole. In a longer one every passage and every window of
   * passages is judged, and an output is the highest logit of either kind, less the logarithm of their number: harmless
   * surroundings do not dilute a hazardous passage, and length alone does not make a text hazardous. Every passage is
   * read once, so time is linear in the length.
   */
  logits(text: string): Float64Array {
    const byPassage = new Float64Array(OUTPUTS).fill(-Infinity);
    const byWindow = new Float64Array(OUTPUTS).fill(-Infinity);
    const windowSums = this.#windowSums.fill(0);
    let windowFeatures = 0;
    let passages = 0;
    let windows = 0;
    this.#extractor.forEachPassage(text, (buckets, endsWindow) => {
      this.#rowSums.add(buckets);
      const { sums } = this.#rowSums;
      for (let unit = 0; unit < HIDDEN; unit++) windowSums[unit]! += sums[unit]!;
      windowFeatures += buckets.length;
      passages++;
      this.#judge(sums, buckets.length, byPassage);
      if (!endsWindow) return;
      this.#judge(windowSums, windowFeatures, byWindow);
      windowSums.fill(0);
      windowFeatures = 0;
      windows++;
    });
    const passagePenalty = logarithm(passages);
    const windowPenalty = logarithm(windows);
    return byWindow.map((logit, output) =>
      Math.max(logit - windowPenalty, byPassage[output]! - passagePenalty),
    );
  }

  /** Raises `highest` to the logits of a number of features whose table rows sum to `sums`. */
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
