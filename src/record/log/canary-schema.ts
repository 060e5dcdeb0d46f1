import { z } from 'zod';
import { EXPECTED, type CanaryCheck } from '../../domain/canary/canary-check.ts';
import { ITEM_CODES } from '../../domain/item-error.ts';
import { MODALITIES } from '../../domain/request.ts';

const probability = z.number().min(0).max(1);

/** A check that a model passed, as stored in the log, the manifest and the results of a fleet. */
export const CANARY_CHECK: z.ZodType<CanaryCheck> = z.strictObject({
  endpoint: z.string().describe('The guard, as configured.'),
  fingerprint: z.string().nullable().describe('Id of the model; null if it is not known.'),
  modality: z.enum(MODALITIES).describe('Modality of the canaries.'),
  file: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable()
    .describe('SHA-256 of the canary file; null for the built-in set.'),
  at: z.iso.datetime().describe('When the check was made: ISO 8601, UTC.'),
  answers: z
    .array(
      z.strictObject({
        name: z.string().describe('Name of the canary.'),
        expected: z.enum(EXPECTED).describe('The known answer.'),
        score: probability.nullable().describe('Probability that it is hazardous; null without a verdict.'),
        flagged: z.boolean().nullable().describe("The guard's decision; null without a verdict."),
        passed: z.boolean().nullable().describe('Whether the answer is as expected; null if it was skipped.'),
        error: z.enum(ITEM_CODES).nullable().describe('Why there is no verdict; null with one.'),
      }),
    )
    .describe('What the guard answered.'),
});
