import { z } from 'zod';
import type { WireModelConfig, WireModelMetadata } from '../tensors/protocol.ts';
import { parseReply } from '../protocol/parse-reply.ts';

/** An int64, which JSON of protobuf messages also writes as a string. */
const int64 = z.union([
  z.int(),
  z
    .string()
    .regex(/^-?\d{1,15}$/)
    .transform(Number),
]);

const configTensor = z.object({
  name: z.string(),
  data_type: z.string(),
  dims: z.array(int64).default([]),
  optional: z.boolean().default(false),
  allow_ragged_batch: z.boolean().default(false),
});

/** Triton's model configuration. Fields with their default value may be omitted. */
export const MODEL_CONFIG: z.ZodType<WireModelConfig> = z.object({
  name: z.string().default(''),
  backend: z.string().default(''),
  max_batch_size: int64.default(0),
  input: z.array(configTensor).default([]),
  output: z.array(configTensor).default([]),
  instance_group: z.array(z.object({ name: z.string().default(''), count: int64.default(1) })).default([]),
  model_transaction_policy: z
    .object({ decoupled: z.boolean().default(false) })
    .nullable()
    .default(null),
});

const metadataTensors = z
  .array(z.object({ name: z.string(), datatype: z.string(), shape: z.array(int64).default([]) }))
  .nullish()
  .transform((tensors) => tensors ?? []);

export const MODEL_METADATA: z.ZodType<WireModelMetadata> = z.object({
  inputs: metadataTensors,
  outputs: metadataTensors,
});

/** The reply to a readiness check, which may also be empty. */
export const READINESS = z.object({ ready: z.boolean().default(true) });

export const SERVER_METADATA = z.object({ extensions: z.array(z.string()).default([]) });

/** Parses a UTF-8 JSON text; null when it is not JSON, or does not have this shape. */
export function parseJson<T>(shape: z.ZodType<T>, text: Buffer): T | null {
  // The error is dropped: its text could quote the reply.
  return shape.safeParse(parseReply(text.toString('utf8'))).data ?? null;
}
