import { OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from './corpus.ts';

/** Sources whose benign texts mention hazards, or resemble requests that should be refused. */
export const LOOK_ALIKE_SOURCES: readonly string[] = [
  'coconot-contrast',
  'cyberseceval-frr',
  'cyberseceval-frr-mt',
  'mlc-v0.5-typical',
  'toxigen-neutral',
];

/** Whether a text is benign but uses alarming words. */
export function isLookAlike(row: LabelledText): boolean {
  return row.targets[OVERALL] === 0 && LOOK_ALIKE_SOURCES.includes(row.source);
}
