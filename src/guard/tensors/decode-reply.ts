import { CATEGORY_COUNT, CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import { type Answer, roundScore } from '../protocol/answer.ts';
import type { TensorLayout } from './encode-request.ts';
import { CACHE_USAGE_WIDTH, type InferResponse, type WireTensor } from './protocol.ts';
import { areBooleans } from './raw.ts';

const FP32_BYTES = 4;
const INT32_BYTES = 4;
const ELEMENT_BYTES = { FP32: FP32_BYTES, INT32: INT32_BYTES, BOOL: 1 } as const;

/**
 * Decodes the answers in a reply to a request of `rows` rows; answer i belongs to row i. An answer is null if its
 * scores are not probabilities (not finite, or outside 0 to 1). The result is null if the reply cannot be mapped to
 * rows: an output is missing, duplicated, or has the wrong data type, shape or length. Shapes for N rows, batched:
 *
 *   SCORE               FP32   [N,1]    required
 *   FLAGGED             BOOL   [N,1]    required
 *   SUBCATEGORY_SCORES  FP32   [N,13]   in the order of the taxonomy
 *   SUBCATEGORY_FLAGS   BOOL   [N,13]   in the order of the taxonomy
 *   CACHE_USAGE         INT32  [N,8]    conversations only; kept with `withUsage`, checked always
 *
 * Unbatched, they have no first dimension: [1], [13], [8]. An optional output may also be empty: [N,0] or [0].
 *
 * TRAP: absent subcategories are not zeros. The contract populates them only for flagged requests whose probe is
 * loaded, so they count as absent when the scores are missing, all zero or all NaN. One NaN among numbers stands for a
 * probe that is not loaded. Set flags count. If an answer is not flagged, its scores count if all are probabilities,
 * and its flags only with such scores: some guards return all scores for every item.
 */
export function decodeReply(
  reply: InferResponse,
  rows: number,
  layout: TensorLayout,
  withUsage: boolean,
): (Answer | null)[] | null {
  const outputs = new OutputReader(reply, rows, layout);
  const scores = outputs.read('SCORE', 'FP32', 1);
  const flagged = outputs.read('FLAGGED', 'BOOL', 1);
  const categoryScores = outputs.read('SUBCATEGORY_SCORES', 'FP32', CATEGORY_COUNT);
  const categoryFlags = outputs.read('SUBCATEGORY_FLAGS', 'BOOL', CATEGORY_COUNT);
  const cacheUsage = outputs.read('CACHE_USAGE', 'INT32', CACHE_USAGE_WIDTH);
  if (!outputs.valid || scores === null || flagged === null) return null;

  const answers: (Answer | null)[] = [];
  for (let row = 0; row < rows; row++) {
    const score = scores.readFloatLE(row * FP32_BYTES);
    const isFlagged = flagged[row] === 1;
    let subcategoryScores: Answer['subcategoryScores'] = null;
    let subcategoryFlags: Answer['subcategoryFlags'] = null;
    let valid = isProbability(score);
    const from = row * CATEGORY_COUNT;
    const populated = populatedScores(categoryScores, from);
    if (populated !== 'invalid') subcategoryScores = populated;
    else if (isFlagged) valid = false;
    if (isFlagged || subcategoryScores !== null) {
      subcategoryFlags = populatedFlags(categoryFlags, from, subcategoryScores !== null);
    }
    if (!valid) {
      answers.push(null);
      continue;
    }
    answers.push({
      score: roundScore(score),
      flagged: isFlagged,
      subcategoryScores,
      subcategoryFlags,
      cacheUsage: withUsage && cacheUsage ? usageOf(cacheUsage, row) : null,
    });
  }
  return answers;
}

function usageOf(raw: Buffer, row: number): number[] {
  const usage: number[] = [];
  for (let index = row * CACHE_USAGE_WIDTH; usage.length < CACHE_USAGE_WIDTH; index++) {
    usage.push(raw.readInt32LE(index * INT32_BYTES));
  }
  return usage;
}

function isProbability(value: number): boolean {
  return value >= 0 && value <= 1;
}

function populatedScores(
  scores: Buffer | null,
  from: number,
): Partial<Record<CategoryKey, number>> | null | 'invalid' {
  if (scores === null) return null;
  let populated = false;
  for (let index = 0; index < CATEGORY_COUNT; index++) {
    const score = scores.readFloatLE((from + index) * FP32_BYTES);
    if (Number.isNaN(score)) continue;
    if (!isProbability(score)) return 'invalid';
    if (score !== 0) populated = true;
  }
  if (!populated) return null;
  const present: Partial<Record<CategoryKey, number>> = {};
  for (let index = 0; index < CATEGORY_COUNT; index++) {
    const score = scores.readFloatLE((from + index) * FP32_BYTES);
    if (!Number.isNaN(score)) present[CATEGORY_KEYS[index]!] = roundScore(score);
  }
  return present;
}

function populatedFlags(flags: Buffer | null, from: number, scoresPopulated: boolean): CategoryKey[] | null {
  if (flags === null) return null;
  const set = CATEGORY_KEYS.filter((_, index) => flags[from + index] === 1);
  return set.length > 0 || scoresPopulated ? set : null;
}

/**
 * Finds outputs by name and checks them. `valid` becomes false at the first one that does not match its declaration.
 */
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

  /** The raw elements, `width` per row; a BOOL is 0 or 1. Null when the output is missing, empty or invalid. */
  read(name: string, datatype: keyof typeof ELEMENT_BYTES, width: number): Buffer | null {
    const index = this.#indices.get(name);
    if (index === undefined || !this.valid) return null;
    const output = this.#reply.outputs[index]!;
    const raw = this.#reply.raw_output_contents[index]!;
    if (output.datatype === datatype && raw.length === 0 && this.#isEmpty(output)) return null;
    const bytes = this.#rows * width * ELEMENT_BYTES[datatype];
    const declared = output.datatype === datatype && this.#hasShape(output, width);
    if (declared && raw.length === bytes && (datatype !== 'BOOL' || areBooleans(raw))) return raw;
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
