import { CATEGORY_COUNT } from '../../domain/taxonomy.ts';
import { CACHE_USAGE_WIDTH } from '../../guard/tensors/protocol.ts';
import { encodeBooleans, encodeFloats, encodeInts, encodeStrings } from '../../guard/tensors/raw.ts';
import { OUTPUTS, wireDatatype, type TensorSpec } from './definition.ts';
import type { OutputTensor } from './model.ts';
import type { ProbeScores } from './probe.ts';
import type { TensorRequest } from './tensor-request.ts';

/** The verdict on one row. */
export interface RowVerdict {
  readonly scores: ProbeScores;
  /** Values of CACHE_USAGE. */
  readonly cacheUsage: readonly number[];
}

/**
 * The requested verdict tensors, N rows each. SUBCATEGORY_SCORES and SUBCATEGORY_FLAGS, of shape [N, 13], are populated
 * for flagged rows only; other rows hold zeros and false. With `allScores`, scores are populated for all rows.
 */
export function verdictTensors(
  request: TensorRequest,
  rows: readonly RowVerdict[],
  allScores: boolean,
): OutputTensor[] {
  const categories = new Float32Array(rows.length * CATEGORY_COUNT);
  const flags = new Array<boolean>(rows.length * CATEGORY_COUNT).fill(false);
  const cacheUsage = new Int32Array(rows.length * CACHE_USAGE_WIDTH);
  rows.forEach(({ scores, cacheUsage: usage }, row) => {
    cacheUsage.set(usage, row * CACHE_USAGE_WIDTH);
    if (!scores.flagged && !allScores) return;
    categories.set(scores.categories, row * CATEGORY_COUNT);
    if (!scores.flagged) return;
    for (let category = 0; category < CATEGORY_COUNT; category++) {
      flags[row * CATEGORY_COUNT + category] = scores.categoryFlags[category]!;
    }
  });
  return requested(request, {
    SCORE: () => encodeFloats(rows.map(({ scores }) => scores.score)),
    FLAGGED: () => encodeBooleans(rows.map(({ scores }) => scores.flagged)),
    SUBCATEGORY_SCORES: () => encodeFloats(categories),
    SUBCATEGORY_FLAGS: () => encodeBooleans(flags),
    CACHE_USAGE: () => encodeInts(cacheUsage),
  });
}

/** The reply to a `version` request: the artifacts' hashes as a JSON object, repeated in every row. */
export function versionTensors(
  request: TensorRequest,
  artifacts: Readonly<Record<string, string>>,
): OutputTensor[] {
  const text = JSON.stringify(artifacts);
  return requested(request, { VERSION: () => encodeStrings(new Array<string>(request.rows).fill(text)) });
}

function requested(request: TensorRequest, encoders: Readonly<Record<string, () => Buffer>>): OutputTensor[] {
  const tensors: OutputTensor[] = [];
  for (const spec of OUTPUTS) {
    const encode = encoders[spec.name];
    if (encode === undefined || request.outputs?.has(spec.name) === false) continue;
    tensors.push({
      name: spec.name,
      datatype: wireDatatype(spec.dataType),
      shape: outputShape(request, spec),
      raw: encode(),
    });
  }
  return tensors;
}

function outputShape(request: TensorRequest, spec: TensorSpec): number[] {
  return request.batched ? [request.rows, ...spec.dims] : [...spec.dims];
}
