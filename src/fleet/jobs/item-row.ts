import { z } from 'zod';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { FailedItem, Item, ReusedItem, SettledItem } from '../../domain/item.ts';
import {
  ORIGINAL_ROLES,
  MODALITIES,
  REQUEST_TYPES,
  type ItemRequest,
  type Modality,
  type RequestType,
} from '../../domain/request.ts';
import { MAX_SNIPPET_UNITS, PART_DIGITS, type Snippet } from '../../domain/text/snippet.ts';
import { errorRow, packError, unpackError, isVerdictRow, packVerdict, unpackVerdict } from './outcome-row.ts';
import {
  textAt,
  type StringTable,
  count,
  countsOf,
  integer,
  nullOr,
  oneOf,
  only,
  row,
  text,
  type Checked,
} from './rows.ts';

/** A piece of content that an outcome may hold. */
export const SNIPPET = z.strictObject({
  text: z.string().max(MAX_SNIPPET_UNITS),
  parts: z.array(z.string().regex(new RegExp(`^[0-9a-f]{${PART_DIGITS}}$`))),
});

/** The first column of a row. */
export const ITEM_KIND = { judged: 0, failed: 1, known: 2 } as const;

/** Where an item is in the sources and its record; for a conversation, also the original roles of its turns. */
export const isPlace = row(
  count, // seq
  text, // id
  count, // path: index in the string table
  nullOr(integer), // row
  nullOr(integer), // line
  nullOr(text), // sha256
  nullOr(count), // bytes
  nullOr(count), // offset
  nullOr(count), // length
  nullOr(countsOf(ORIGINAL_ROLES)),
  nullOr(text), // part
  nullOr(count), // turn
);

type Place = Checked<typeof isPlace>;

export const PLACE = z.custom<Place>(isPlace);

export function packPlace({ seq, id, source, roles, part, turn }: Item, names: StringTable): Place {
  const { path, row: record, line, sha256, bytes, offset, length } = source;
  return [seq, id, names.index(path), record, line, sha256, bytes, offset, length, roles, part, turn];
}

export const FINGERPRINT = z.object({ id: z.string(), artifacts: z.record(z.string(), z.string()) });

/** What the rows of a job refer to: texts by index, and the models of settled verdicts by id. */
interface Named {
  readonly names: readonly string[];
  readonly fingerprints: readonly Fingerprint[];
}

/** Throws when the row refers to something that is missing; so do the other functions that unpack. */
export function unpackPlace(
  [seq, id, path, row, line, sha256, bytes, offset, length, roles, part, turn]: Place,
  { names }: Pick<Named, 'names'>,
): Pick<Item, 'seq' | 'id' | 'source' | 'roles' | 'part' | 'turn'> {
  const source = { path: textAt(names, path), row, line, sha256, bytes, offset, length };
  return { seq, id, source, roles, part, turn };
}

const isFailed = row(
  only(ITEM_KIND.failed),
  isPlace,
  nullOr(oneOf(REQUEST_TYPES)),
  nullOr(oneOf(MODALITIES)),
  errorRow(text),
);

const isKnownRow = row(
  only(ITEM_KIND.known),
  isPlace,
  oneOf(REQUEST_TYPES),
  oneOf(MODALITIES),
  text, // contentSha256
  isVerdictRow,
  count, // reusedFrom: index in the string table
  (value: unknown): value is Snippet | null => SNIPPET.nullable().safeParse(value).success,
);

type FailedRow = Checked<typeof isFailed>;
type KnownRow = Checked<typeof isKnownRow>;
type SettledRow = FailedRow | KnownRow;

const isSettled = (value: unknown): value is SettledRow => isFailed(value) || isKnownRow(value);

/** An item that was settled before it was judged. */
export const SETTLED_ROW = z.custom<SettledRow>(isSettled);

export function packSettled(item: SettledItem, names: StringTable): SettledRow {
  const place = packPlace(item, names);
  if (item.contentSha256 === null) {
    return [ITEM_KIND.failed, place, item.requestType, item.modality, packError(item.settled.error)];
  }
  const of = [place, item.requestType, item.modality, item.contentSha256] as const;
  const { judgement, reusedFrom, snippet } = item.settled;
  return [ITEM_KIND.known, ...of, packVerdict(judgement, names), names.index(reusedFrom), snippet];
}

export function unpackSettled(row: SettledRow, by: Named): SettledItem {
  return row[0] === ITEM_KIND.failed ? unpackFailed(row, by) : unpackKnown(row, by);
}

function unpackFailed([, place, requestType, modality, error]: FailedRow, by: Named): FailedItem {
  const { seq, id, source, roles, part, turn } = unpackPlace(place, by);
  const settled = { judgement: null, error: unpackError(error) };
  return {
    seq,
    id,
    source,
    roles,
    part,
    turn,
    request: null,
    modality,
    requestType,
    contentSha256: null,
    settled,
  };
}

function unpackKnown(
  [, place, requestType, modality, contentSha256, verdict, run, snippet]: KnownRow,
  by: Named,
): ReusedItem {
  const { seq, id, source, roles, part, turn } = unpackPlace(place, by);
  const judgement = unpackVerdict(verdict, by.names);
  const fingerprint = by.fingerprints.find((known) => known.id === judgement.fingerprint);
  if (fingerprint === undefined) throw new Error('a settled verdict refers to a model that its job lacks');
  const settled = { judgement, fingerprint, reusedFrom: textAt(by.names, run), snippet, error: null };
  return { seq, id, source, roles, part, turn, request: null, modality, requestType, contentSha256, settled };
}

const isJudged = row(
  only(ITEM_KIND.judged),
  isPlace,
  oneOf(REQUEST_TYPES),
  oneOf(MODALITIES),
  text, // contentSha256
);

type ItemRow = Checked<typeof isJudged> | SettledRow;

/** An item as encoded beside its outcome: without its content, which the record does not need. */
export const ITEM_ROW = z.custom<ItemRow>((value) => isJudged(value) || isSettled(value));

export function packItem(item: Item, names: StringTable): ItemRow {
  if (item.settled !== null) return packSettled(item, names);
  const { requestType, modality } = item.request;
  return [ITEM_KIND.judged, packPlace(item, names), requestType, modality, item.contentSha256];
}

export function unpackItem(row: ItemRow, by: Named): Item {
  if (row[0] !== ITEM_KIND.judged) return unpackSettled(row, by);
  const [, place, requestType, modality, contentSha256] = row;
  const { seq, id, source, roles, part, turn } = unpackPlace(place, by);
  return {
    seq,
    id,
    source,
    roles,
    part,
    turn,
    request: emptied(requestType, modality),
    contentSha256,
    settled: null,
  };
}

/** A request of the given kind without content, which stays with the worker. */
function emptied(requestType: RequestType, modality: Modality): ItemRequest {
  switch (requestType) {
    case 'prompt':
      if (modality === 'text') return { requestType, modality, text: '' };
      return { requestType, modality, file: { corpus: '', path: '', sha256: '', bytes: 0 }, caption: null };
    case 'response':
      return { requestType, modality: 'text', prompt: null, response: '' };
    case 'generation':
      return { requestType, modality: 'text', prompt: '', chunks: [], cadenceChunks: 1 };
    case 'multiturn':
      return { requestType, modality: 'text', messages: [], turns: 0, conversation: null };
  }
}
