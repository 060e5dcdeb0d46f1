import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { OUTPUTS } from './weights-file.ts';

/** How logits become probabilities and decisions: the readable half of the model, next to its weights. */
const rulesShape = z.strictObject({
  /** The featureFingerprint that the weights were trained on. */
  features: z.string().regex(/^[0-9a-f]{64}$/),
  /** Per output: probability = logistic(slope × logit + offset). */
  calibration: z.array(z.strictObject({ slope: z.number().positive(), offset: z.number() })).length(OUTPUTS),
  /** Per output: probability from which it is flagged, 0 to 1. */
  thresholds: z.array(z.number().min(0).max(1)).length(OUTPUTS),
});

export type LiteRules = z.infer<typeof rulesShape>;

/** Parses the rules file. Failure('internal') when it is damaged. */
export function decodeRules(json: string): LiteRules {
  try {
    return rulesShape.parse(JSON.parse(json));
  } catch (cause) {
    throw new Failure('internal', 'the rules of the embedded text model are damaged or of another version', {
      cause,
    });
  }
}

/** Writes the rules file: the training side of the file format, kept next to its reader. */
export function encodeRules(rules: LiteRules): string {
  return `${JSON.stringify(rules, null, 2)}\n`;
}
