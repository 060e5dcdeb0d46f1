import { z } from 'zod';
import type { RunConfig } from '../../config/run-config.ts';
import type { Container } from './container-kind.ts';

export type UnpackLimits = RunConfig['limits']['unpack'];

/**
 * Messages to and from the process that unpacks one file, as lines of JSON. `open` starts it; it answers each request
 * with the next part, or null if there is none left.
 */
export type Request =
  | {
      readonly op: 'open';
      readonly container: Container;
      /** Name of the file, which indicates its type if its bytes do not. */
      readonly name: string;
      readonly limits: UnpackLimits;
    }
  | { readonly op: 'next' };

/** Why a part, or the rest of a file, is not unpacked. */
export const WHY = [
  'encrypted',
  'damaged',
  'method',
  'part-too-large',
  'too-deep',
  'too-many',
  'too-large',
  'empty',
  'drawing',
  'macros',
  'mail-too-large',
  'form',
  'drawn',
  'letters',
  'partly',
  'internal',
] as const;
export type Why = (typeof WHY)[number];

export const part = z.discriminatedUnion('kind', [
  /** A file inside: its bytes in base64. */
  z.object({ kind: z.literal('file'), name: z.string(), base64: z.string() }),
  /** A rendered text. */
  z.object({ kind: z.literal('text'), name: z.string(), text: z.string() }),
  /** A table: CSV with commas and line feeds, in base64. */
  z.object({ kind: z.literal('table'), name: z.string(), base64: z.string() }),
  /** Something that was not unpacked; the name is empty for the file itself or the rest of it. */
  z.object({
    kind: z.literal('problem'),
    name: z.string(),
    why: z.enum(WHY),
    /** Size of the part; null if unknown. */
    bytes: z.number().nullable(),
    /** Number of parts that are not read because of it; null if unknown. */
    parts: z.number().nullable(),
  }),
]);
export type UnpackedPart = z.infer<typeof part>;

export const answer = z.object({
  cpuMs: z.number(),
  /** Null if there is none left. */
  part: part.nullable(),
});

/** Descriptor of the file in the process. */
export const FILE_FD = 3;

/** Maximum bytes of one part. Larger ones are not unpacked. */
export const MAX_PART_BYTES = 64 * 1024 * 1024;

/** Maximum length of an answer: a part in base64, and its name. */
export const MAX_ANSWER_BYTES = 2 * MAX_PART_BYTES;
