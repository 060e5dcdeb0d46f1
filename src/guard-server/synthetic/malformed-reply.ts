import { encodeFloats } from '../../guard/tensors/raw.ts';
import type { OutputTensor } from '../contract/model.ts';

/** Damages the tensors of a reply as a broken model would. */
export function malform(
  outputs: readonly OutputTensor[],
  how: 'shape' | 'nan' | 'missing' | 'truncated',
): readonly OutputTensor[] {
  const score = (change: (tensor: OutputTensor) => OutputTensor): readonly OutputTensor[] =>
    outputs.map((tensor) => (tensor.name === 'SCORE' ? change(tensor) : tensor));
  switch (how) {
    case 'shape':
      return score((tensor) => ({ ...tensor, shape: [...tensor.shape, 2] }));
    case 'nan':
      return score((tensor) => ({
        ...tensor,
        raw: encodeFloats(new Float32Array(tensor.raw.length / 4).fill(NaN)),
      }));
    case 'missing':
      return outputs.filter(({ name }) => name !== 'SCORE');
    case 'truncated':
      return outputs.map((tensor) => ({ ...tensor, raw: tensor.raw.subarray(0, -1) }));
  }
}
