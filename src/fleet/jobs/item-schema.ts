import { z } from 'zod';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { FailedItem, ReusedItem, SettledItem, SettledVerdict } from '../../domain/item.ts';
import { MODALITIES, REQUEST_TYPES } from '../../domain/request.ts';
import { MAX_SNIPPET_UNITS, PART_DIGITS } from '../../domain/text/snippet.ts';
import { OUTCOME as OUTCOME_LINE } from '../../record/outcomes/outcome-schema.ts';
import { errorSchema, JUDGEMENT } from './outcome-schema.ts';

/** An excerpt of content that an outcome may include. */
export const SNIPPET = z.strictObject({
  text: z.string().max(MAX_SNIPPET_UNITS),
  parts: z.array(z.string().regex(new RegExp(`^[0-9a-f]{${PART_DIGITS}}$`))),
});

export const FINGERPRINT = z.object({ id: z.string(), artifacts: z.record(z.string(), z.string()) });

const { seq, id, source, roles, part, turn } = OUTCOME_LINE.shape;

/** Location of an item in the sources and its record; for a conversation, also the original roles of its turns. */
export const PLACE = z.object({ seq, id, source, roles, part, turn });

const FAILED_ITEM: z.ZodType<FailedItem> = PLACE.extend({
  request: z.null(),
  requestType: z.enum(REQUEST_TYPES).nullable(),
  modality: z.enum(MODALITIES).nullable(),
  contentSha256: z.null(),
  settled: z.object({ judgement: z.null(), error: errorSchema(z.string()) }),
});

/** A reused verdict without its model, which the job contains only once. */
type PackedReusedItem = Omit<ReusedItem, 'settled'> & {
  readonly settled: Omit<SettledVerdict, 'fingerprint'>;
};

const REUSED_ITEM: z.ZodType<PackedReusedItem> = PLACE.extend({
  request: z.null(),
  requestType: z.enum(REQUEST_TYPES),
  modality: z.enum(MODALITIES),
  contentSha256: z.string(),
  settled: z.object({
    judgement: JUDGEMENT,
    reusedFrom: z.string(),
    snippet: SNIPPET.nullable(),
    error: z.null(),
  }),
});

/** An item in a job that was settled before it was judged. */
export const SETTLED_ITEM = z.union([REUSED_ITEM, FAILED_ITEM]);

type PackedSettledItem = z.output<typeof SETTLED_ITEM>;

export function packSettled(item: SettledItem): PackedSettledItem {
  if (item.contentSha256 === null) return item;
  const { judgement, reusedFrom, snippet, error } = item.settled;
  return { ...item, settled: { judgement, reusedFrom, snippet, error } };
}

/** Throws if the job lacks the model of a reused verdict. */
export function unpackSettled(item: PackedSettledItem, fingerprints: readonly Fingerprint[]): SettledItem {
  if (item.contentSha256 === null) return item;
  const { settled } = item;
  const fingerprint = fingerprints.find((known) => known.id === settled.judgement.fingerprint);
  if (fingerprint === undefined) throw new Error('a settled verdict refers to a model that its job lacks');
  return { ...item, settled: { ...settled, fingerprint } };
}
