import { BUCKETS, type FeatureExtractor } from '../../src/guard-server/lite/features.ts';
import { HIDDEN, OUTPUTS, OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { PLAIN_TEXTS } from '../corpora/plain-texts.ts';
import { isLookAlike } from '../corpora/look-alikes.ts';
import { changedCopies } from './augmentation.ts';
import { benignWeights } from './language-balance.ts';
import { shuffle, type Random } from '../random.ts';

/** A part of a text as a training example. */
interface Example {
  readonly buckets: Int32Array;
  readonly targets: Float32Array;
  readonly weight: number;
}

/** The network in floating point, before its table is quantised. */
export interface FloatWeights {
  /** One row per bucket, HIDDEN wide. */
  readonly table: Float32Array;
  readonly hiddenBias: Float32Array;
  /** One row per output, HIDDEN wide. */
  readonly output: Float32Array;
  readonly outputBias: Float32Array;
}

/** Passes over the data. */
const EPOCHS = 13;
/** AdaGrad's learning rate for the table, falling linearly to a twentieth over the epochs, and its share for the rest. */
const RATE = 1;
const RATE_FALL = 0.95;
const DENSE_SHARE = 0.1;
/** Initial value of AdaGrad's sums. */
const SMOOTHING = 0.01;
/** Share of features dropped at random each time a text is seen, so that no single word dominates. */
const DROPOUT = 0.6;
/** Weight decay of the table rows that a text uses. */
const SHRINKAGE = 1e-4;
/** Weights of benign texts in alarming words, and of our own benign texts. */
const LOOK_ALIKE_WEIGHT = 2;
const PLAIN_WEIGHT = 1.3;
/** Width of the range of the table's initial values. */
const TABLE_START = 0.1;

/** The features of a text's pieces, and of its windows: two adjacent pieces each, or the only one. */
function partsOf(text: string, extractor: FeatureExtractor): { pieces: Int32Array[]; windows: Int32Array[] } {
  const pieces: Int32Array[] = [];
  extractor.forEachPiece(text, (buckets) => pieces.push(buckets.slice()));
  const windows = pieces.slice(1).map((piece, index) => Int32Array.of(...pieces[index]!, ...piece));
  return { pieces, windows: windows.length > 0 ? windows : pieces };
}

/**
 * Every part of a benign text is benign. Which part of a hazardous text is hazardous is unknown: its windows share one
 * weight, and its pieces are left out.
 */
function examplesOf(
  row: LabelledText,
  extractor: FeatureExtractor,
  benignWeight: ReadonlyMap<string, number>,
): Example[] {
  const { pieces, windows } = partsOf(row.text, extractor);
  const benign = row.targets[OVERALL] === 0;
  const languageWeight = row.source === PLAIN_TEXTS ? PLAIN_WEIGHT : (benignWeight.get(row.language) ?? 1);
  const likeness = isLookAlike(row) ? LOOK_ALIKE_WEIGHT : 1;
  const weight = benign ? languageWeight * likeness : 1 / windows.length;
  const parts = benign && pieces.length > 1 ? [...windows, ...pieces] : windows;
  return parts
    .filter((buckets) => buckets.length > 0)
    .map((buckets) => ({ buckets, targets: row.targets, weight }));
}

function uniform(length: number, width: number, random: Random): Float32Array {
  return Float32Array.from({ length }, () => (random() - 0.5) * width);
}

/**
 * Trains the network on labelled texts: one logistic loss per output, back-propagated through the hidden layer, one
 * example at a time with AdaGrad (Duchi, Hazan, Singer 2011). Deterministic for the same rows and random numbers. Takes
 * about half a minute for 30,000 short texts.
 */
export function trainNetwork(
  rows: readonly LabelledText[],
  extractor: FeatureExtractor,
  random: Random,
): FloatWeights {
  const benignWeight = benignWeights(rows);
  const texts = [...rows, ...changedCopies(rows, random)];
  const examples = texts.flatMap((row) => examplesOf(row, extractor, benignWeight));
  const pass = new TrainingPass(random);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    shuffle(examples, random);
    const rate = RATE * (1 - (RATE_FALL * epoch) / EPOCHS);
    for (const example of examples) pass.learn(example, rate);
  }
  return pass.weights;
}

class TrainingPass {
  readonly weights: FloatWeights;
  readonly #random: Random;
  /** One per row of the table: a step's mean over the hidden units. */
  readonly #tableSquares = new Float32Array(BUCKETS).fill(SMOOTHING);
  readonly #hiddenBiasSquares = new Float32Array(HIDDEN).fill(SMOOTHING);
  readonly #outputSquares = new Float32Array(OUTPUTS * HIDDEN).fill(SMOOTHING);
  readonly #outputBiasSquares = new Float32Array(OUTPUTS).fill(SMOOTHING);
  readonly #hidden = new Float32Array(HIDDEN);
  readonly #hiddenGradient = new Float32Array(HIDDEN);
  readonly #kept = new Int32Array(BUCKETS);

  constructor(random: Random) {
    this.#random = random;
    this.weights = {
      table: uniform(BUCKETS * HIDDEN, TABLE_START, random),
      hiddenBias: new Float32Array(HIDDEN),
      output: uniform(OUTPUTS * HIDDEN, 2 / Math.sqrt(HIDDEN), random),
      outputBias: new Float32Array(OUTPUTS),
    };
  }

  learn(example: Example, rate: number): void {
    const kept = this.#dropOut(example.buckets);
    if (kept.length === 0) return;
    const share = 1 / Math.sqrt(kept.length);
    this.#forward(kept, share);
    this.#learnOutputs(example, rate * DENSE_SHARE);
    this.#learnHiddenBias(rate * DENSE_SHARE);
    this.#learnTable(kept, share, rate);
  }

  #dropOut(buckets: Int32Array): Int32Array {
    let count = 0;
    for (let index = 0; index < buckets.length; index++) {
      if (this.#random() >= DROPOUT) this.#kept[count++] = buckets[index]!;
    }
    return this.#kept.subarray(0, count);
  }

  #forward(kept: Int32Array, share: number): void {
    const hidden = this.#hidden.fill(0);
    const { table, hiddenBias } = this.weights;
    for (let index = 0; index < kept.length; index++) {
      const row = kept[index]! * HIDDEN;
      for (let unit = 0; unit < HIDDEN; unit++) hidden[unit]! += table[row + unit]!;
    }
    for (let unit = 0; unit < HIDDEN; unit++) {
      hidden[unit] = Math.max(0, hidden[unit]! * share + hiddenBias[unit]!);
    }
  }

  #learnOutputs(example: Example, rate: number): void {
    const hidden = this.#hidden;
    const gradient = this.#hiddenGradient.fill(0);
    const { output, outputBias } = this.weights;
    for (let index = 0; index < OUTPUTS; index++) {
      const row = index * HIDDEN;
      let logit = outputBias[index]!;
      for (let unit = 0; unit < HIDDEN; unit++) logit += output[row + unit]! * hidden[unit]!;
      const error = (1 / (1 + Math.exp(-logit)) - example.targets[index]!) * example.weight;
      for (let unit = 0; unit < HIDDEN; unit++) {
        if (hidden[unit] === 0) continue;
        gradient[unit]! += error * output[row + unit]!;
        const step = error * hidden[unit]!;
        const squares = (this.#outputSquares[row + unit]! += step * step);
        output[row + unit]! -= (rate * step) / Math.sqrt(squares);
      }
      const squares = (this.#outputBiasSquares[index]! += error * error);
      outputBias[index]! -= (rate * error) / Math.sqrt(squares);
    }
  }

  #learnHiddenBias(rate: number): void {
    const { hiddenBias } = this.weights;
    for (let unit = 0; unit < HIDDEN; unit++) {
      const step = this.#hiddenGradient[unit]!;
      if (step === 0) continue;
      const squares = (this.#hiddenBiasSquares[unit]! += step * step);
      hiddenBias[unit]! -= (rate * step) / Math.sqrt(squares);
    }
  }

  #learnTable(kept: Int32Array, share: number, rate: number): void {
    const { table } = this.weights;
    const gradient = this.#hiddenGradient;
    let mean = 0;
    for (let unit = 0; unit < HIDDEN; unit++) {
      gradient[unit]! *= share;
      mean += gradient[unit]! ** 2 / HIDDEN;
    }
    for (let index = 0; index < kept.length; index++) {
      const bucket = kept[index]!;
      const row = bucket * HIDDEN;
      const step = rate / Math.sqrt((this.#tableSquares[bucket]! += mean));
      const remaining = 1 - step * SHRINKAGE;
      for (let unit = 0; unit < HIDDEN; unit++) {
        table[row + unit] = table[row + unit]! * remaining - step * gradient[unit]!;
      }
    }
  }
}
