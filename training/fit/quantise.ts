import { HIDDEN, type LiteWeights } from '../../src/guard-server/lite/weights-file.ts';
import type { FloatWeights } from './trainer.ts';

/** Max steps in either direction that fit a signed byte. */
const STEPS = 127;

/** Rounds the table to 8-bit steps, with a step size per hidden unit that fits its largest value. */
export function quantise(weights: FloatWeights): Omit<LiteWeights, 'vocabulary'> {
  const { table, ...dense } = weights;
  const scale = new Float32Array(HIDDEN);
  for (let at = 0; at < table.length; at++) {
    scale[at % HIDDEN] = Math.max(scale[at % HIDDEN]!, Math.abs(table[at]!) / STEPS);
  }
  const steps = Int8Array.from(table, (value, at) => Math.round(value / (scale[at % HIDDEN]! || 1)));
  return { table: steps, scale, ...dense };
}
