import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { OUTPUTS } from './weights-file.ts';

/** How logits become probabilities and decisions; the readable half of the model, beside its weights. */
const rulesShape = z.strictObject({
  /** SHA-256 of what the extractor makes of a fixed text; weights only fit the features they were trained on. */
  features: z.string().regex(/^[0-9a-f]{64}$/),
  /** By output: probability = logistic(slope × logit + offset). */
  calibration: z.array(z.strictObject({ slope: z.number().positive(), offset: z.number() })).length(OUTPUTS),
  /** By output: the probability from which on it is flagged, 0 … 1. */
  thresholds: z.array(z.number().min(0).max(1)).length(OUTPUTS),
});

export type LiteRules = z.infer<typeof rulesShape>;

/** Reads the rules from their JSON; a Failure (internal) when they are not such. */
export function decodeRules(json: string): LiteRules {
  try {
    return rulesShape.parse(JSON.parse(json));
  } catch (cause) {
    throw new Failure('internal', 'the rules of the embedded text model are damaged or of another version', {
      cause,
    });
  }
}

/** The rules as the JSON file that is shipped. */
export function encodeRules(rules: LiteRules): string {
  return `${JSON.stringify(rules, null, 2)}\n`;
}
