import { z } from 'zod';
import type { Upload } from '../requests/uploads.ts';

/** Schemas that requests and replies are checked against, and that `/openapi.json` is generated from. */

export const textRequest = z.strictObject({ text: z.string().meta({ description: 'The text to judge.' }) });

/** The parts of a form, once its file has been received. */
export const mediaForm = z.strictObject({
  file: z
    .custom<Upload>((value) => value !== null && value !== undefined)
    .meta({
      type: 'string',
      contentMediaType: 'application/octet-stream',
      description:
        'The image or clip to judge. Its name and declared type are ignored: its first bytes count.',
    }),
  text: z.string().optional().meta({
    description:
      'The caption of the image, or the transcript of the clip. It is judged together with the file.',
  }),
});

export const verdict = z.strictObject({
  flagged: z.boolean(),
  score: z.number().min(0).max(1).meta({ description: 'Probability that the content is hazardous.' }),
  subcategory_flags: z.record(z.string(), z.boolean()).meta({
    description:
      'The categories that were judged, by their keys, and whether each is flagged. Empty when nothing is flagged.',
  }),
  latency_ms: z.number().nonnegative().meta({ description: 'Processing time in milliseconds.' }),
});

export const errorBody = z.strictObject({ error: z.strictObject({ code: z.string(), message: z.string() }) });

export const health = z.strictObject({ status: z.literal('ok') });

export type Verdict = z.infer<typeof verdict>;
