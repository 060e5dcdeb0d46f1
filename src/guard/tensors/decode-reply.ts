import { CATEGORY_COUNT, CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import { type Answer } from '../answer.ts';
import { type TensorLayout } from './encode-request.ts';
import { type InferResponse, type WireTensor } from './protocol.ts';
import { decodeBooleans, decodeFloats, decodeInts } from './raw.ts';
import { shortestFloat } from './shortest-float.ts';

/** Width of CACHE_USAGE. */
export const CACHE_USAGE_WIDTH = 8;

/**
 * The answers in a reply to a request of `rows` rows, answer i being row i's; null in place of an answer whose
 * numbers are not a verdict (a score that is not finite or outside 0 … 1). Null altogether when the reply cannot
 * be assigned to rows: an output is missing, doubled, or of the wrong data type, shape or length.
 *
 * Subcategories are absent, which is not zero, unless the guard populated them: an answer that is not flagged has
 * none whatever its tensors hold; neither has one whose scores are missing, all zero or all NaN. A NaN among
 * numbers is one absent probe. A set flag always counts.
 */
export function decodeReply(
  reply: InferResponse,
  rows: number,
  layout: TensorLayout,
): (Answer | null)[] | null {
  const outputs = new OutputReader(reply, rows, layout);
  const scores = outputs.read('SCORE', 'FP32', 1, decodeFloats);
  const flagged = outputs.read('FLAGGED', 'BOOL', 1, decodeBooleans);
  const categoryScores = outputs.read('SUBCATEGORY_SCORES', 'FP32', CATEGORY_COUNT, decodeFloats);
  const categoryFlags = outputs.read('SUBCATEGORY_FLAGS', 'BOOL', CATEGORY_COUNT, decodeBooleans);
  const cacheUsage = outputs.read('CACHE_USAGE', 'INT32', CACHE_USAGE_WIDTH, decodeInts);
  if (!outputs.valid || scores === null || flagged === null) return null;

  const answers: (Answer | null)[] = [];
  for (let row = 0; row < rows; row++) {
    const score = scores[row]!;
    const from = row * CATEGORY_COUNT;
    let subcategoryScores: Answer['subcategoryScores'] = null;
    let subcategoryFlags: Answer['subcategoryFlags'] = null;
    let valid = isProbability(score);
    if (flagged[row]!) {
      const populated = populatedScores(categoryScores, from);
      if (populated === 'invalid') valid = false;
      else subcategoryScores = populated;
      subcategoryFlags = populatedFlags(categoryFlags, from, subcategoryScores !== null);
    }
    if (!valid) {
      answers.push(null);
      continue;
    }
    const usageFrom = row * CACHE_USAGE_WIDTH;
    answers.push({
      score: shortestFloat(score),
      flagged: flagged[row]!,
      subcategoryScores,
      subcategoryFlags,
      cacheUsage:
        cacheUsage === null
          ? null
          : Array.from(cacheUsage.subarray(usageFrom, usageFrom + CACHE_USAGE_WIDTH)),
    });
  }
  return answers;
}

function isProbability(value: number): boolean {
  return value >= 0 && value <= 1;
}

function populatedScores(
  scores: Float32Array | null,
  from: number,
): Partial<Record<CategoryKey, number>> | null | 'invalid' {
  if (scores === null) return null;
  const present: Partial<Record<CategoryKey, number>> = {};
  let populated = false;
  for (const [index, key] of CATEGORY_KEYS.entries()) {
    const score = scores[from + index]!;
    if (Number.isNaN(score)) continue;
    if (!isProbability(score)) return 'invalid';
    if (score !== 0) populated = true;
    present[key] = shortestFloat(score);
  }
  return populated ? present : null;
}

function populatedFlags(
  flags: readonly boolean[] | null,
  from: number,
  scoresPopulated: boolean,
): CategoryKey[] | null {
  if (flags === null) return null;
  const set = CATEGORY_KEYS.filter((_, index) => flags[from + index]!);
  return set.length > 0 || scoresPopulated ? set : null;
}

/** Finds outputs by name and checks them; `valid` turns false with the first that is not as declared. */
class OutputReader {
  readonly #reply: InferResponse;
  readonly #rows: number;
  readonly #layout: TensorLayout;
  readonly #indices = new Map<string, number>();
  valid = true;

  constructor(reply: InferResponse, rows: number, layout: TensorLayout) {
    this.#reply = reply;
    this.#rows = rows;
    this.#layout = layout;
    if (reply.outputs.length !== reply.raw_output_contents.length) this.valid = false;
    for (const [index, output] of reply.outputs.entries()) {
      if (this.#indices.has(output.name)) this.valid = false;
      this.#indices.set(output.name, index);
    }
  }

  /** Rows of `width` elements; null when the output is missing, or empty as a tensor without elements. */
  read<T extends { readonly length: number }>(
    name: string,
    datatype: string,
    width: number,
    decode: (raw: Buffer) => T | null,
  ): T | null {
    const index = this.#indices.get(name);
    if (index === undefined || !this.valid) return null;
    const output = this.#reply.outputs[index]!;
    const raw = this.#reply.raw_output_contents[index]!;
    if (output.datatype === datatype && raw.length === 0 && this.#isEmpty(output)) return null;
    const values = output.datatype === datatype && this.#hasShape(output, width) ? decode(raw) : null;
    if (values?.length === this.#rows * width) return values;
    this.valid = false;
    return null;
  }

  #hasShape({ shape }: WireTensor, width: number): boolean {
    return this.#layout.batched
      ? shape.length === 2 && shape[0] === this.#rows && shape[1] === width
      : shape.length === 1 && shape[0] === width;
  }

  #isEmpty({ shape }: WireTensor): boolean {
    return this.#layout.batched
      ? shape.length === 2 && shape[0] === this.#rows && shape[1] === 0
      : shape.length === 1 && shape[0] === 0;
  }
}
