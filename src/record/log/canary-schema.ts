import { z } from 'zod';
import { EXPECTED, type CanaryCheck } from '../../domain/canary/canary-check.ts';
import { ITEM_CODES } from '../../domain/item-error.ts';
import { MODALITIES } from '../../domain/request.ts';

const probability = z.number().min(0).max(1);

/** A check that a model passed, as the log, the manifest and the results of a fleet hold it. */
export const CANARY_CHECK: z.ZodType<CanaryCheck> = z.strictObject({
  endpoint: z.string(),
  fingerprint: z.string().nullable(),
  modality: z.enum(MODALITIES),
  file: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  at: z.iso.datetime(),
  answers: z.array(
    z.strictObject({
      name: z.string(),
      expected: z.enum(EXPECTED),
      score: probability.nullable(),
      flagged: z.boolean().nullable(),
      passed: z.boolean().nullable(),
      error: z.enum(ITEM_CODES).nullable(),
    }),
  ),
});
