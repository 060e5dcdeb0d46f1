import { z } from 'zod';
import type { Item, SettledItem } from '../../domain/item.ts';
import { ITEM_CODES, ITEM_ERROR_REASONS, mayHaveReason } from '../../domain/item-error.ts';
import { ORIGINAL_ROLES, type RoleCounts } from '../../domain/original-role.ts';
import {
  MODALITIES,
  REQUEST_TYPES,
  type ItemRequest,
  type Modality,
  type RequestType,
} from '../../domain/request.ts';
import { named, type Names } from './names.ts';
import { count, countsOf, integer, nullOr, oneOf, row, text, type Check, type Checked } from './rows.ts';

/**
 * What a person finds an item by: seq, id, and of its source the path (named), row, line, hash and bytes; then, of a
 * conversation that has any, the original roles of its turns.
 */
type Place = BarePlace | readonly [...BarePlace, roles: RoleCounts];

type BarePlace = readonly [
  seq: number,
  id: string,
  path: number,
  row: number | null,
  line: number | null,
  sha256: string | null,
  bytes: number | null,
];

const BARE_PLACE = [
  ...([count, text, count] as const),
  ...([nullOr(integer), nullOr(integer), nullOr(text), nullOr(count)] as const),
] as const;

const isBare: Check<BarePlace> = row(...BARE_PLACE);

const isRoles = countsOf(ORIGINAL_ROLES);

const isWithRoles = row(...BARE_PLACE, isRoles);

const isPlace: Check<Place> = (value): value is Place => isBare(value) || isWithRoles(value);

export const PLACE = z.custom<Place>(isPlace);

export function packPlace({ seq, id, source, roles }: Item, names: Names): Place {
  const { path, row: record, line, sha256, bytes } = source;
  if (roles === null) return [seq, id, names.place(path), record, line, sha256, bytes];
  return [seq, id, names.place(path), record, line, sha256, bytes, roles];
}

/** Throws when it names what is not in the list. */
export function unpackPlace(
  [seq, id, path, row, line, sha256, bytes, roles]: Place,
  list: readonly string[],
): Pick<Item, 'seq' | 'id' | 'source' | 'roles'> {
  return { seq, id, source: { path: named(list, path), row, line, sha256, bytes }, roles: roles ?? null };
}

const isSettled = row(
  isPlace,
  nullOr(oneOf(REQUEST_TYPES)),
  nullOr(oneOf(MODALITIES)),
  oneOf(ITEM_CODES),
  text, // message
);

/** The same with the reason of its error. */
const isSettledWithReason = row(
  isPlace,
  nullOr(oneOf(REQUEST_TYPES)),
  nullOr(oneOf(MODALITIES)),
  oneOf(ITEM_CODES),
  text, // message
  oneOf(ITEM_ERROR_REASONS),
);

type SettledRow = Checked<typeof isSettled> | Checked<typeof isSettledWithReason>;

const isAnySettled: Check<SettledRow> = (value): value is SettledRow =>
  isSettled(value) || (isSettledWithReason(value) && mayHaveReason(value[3], value[5]));

/** An item that was settled when it was read. */
export const SETTLED_ROW = z.custom<SettledRow>(isAnySettled);

export function packSettled(item: SettledItem, names: Names): SettledRow {
  const { code, message, reason } = item.error;
  const settled = [packPlace(item, names), item.requestType, item.modality, code, message] as const;
  return reason === undefined ? [...settled] : [...settled, reason];
}

/** Throws as `unpackPlace` does. */
export function unpackSettled(
  [place, requestType, modality, code, message, reason]: SettledRow,
  list: readonly string[],
): SettledItem {
  const { seq, id, source, roles } = unpackPlace(place, list);
  return {
    seq,
    id,
    source,
    roles,
    request: null,
    modality,
    requestType,
    contentSha256: null,
    error: reason === undefined ? { code, message } : { code, message, reason },
  };
}

const isJudged = row(isPlace, oneOf(REQUEST_TYPES), oneOf(MODALITIES), text /* contentSha256 */);

type ItemRow = Checked<typeof isJudged> | SettledRow;

/** An item as it travels beside its outcome: without its content, which the record has no use for. */
export const ITEM_ROW = z.custom<ItemRow>((value) => isJudged(value) || isAnySettled(value));

export function packItem(item: Item, names: Names): ItemRow {
  if (item.error !== null) return packSettled(item, names);
  const { requestType, modality } = item.request;
  return [packPlace(item, names), requestType, modality, item.contentSha256];
}

/** Throws when it names what is not in the list. */
export function unpackItem(row: ItemRow, list: readonly string[]): Item {
  if (row.length !== 4) return unpackSettled(row, list);
  const [place, requestType, modality, contentSha256] = row;
  const { seq, id, source, roles } = unpackPlace(place, list);
  return { seq, id, source, roles, request: emptied(requestType, modality), contentSha256, error: null };
}

/** A request of a kind whose content stayed with the worker. */
function emptied(requestType: RequestType, modality: Modality): ItemRequest {
  switch (requestType) {
    case 'prompt':
      if (modality === 'text') return { requestType, modality, text: '' };
      return { requestType, modality, file: { corpus: '', path: '', sha256: '', bytes: 0 }, caption: null };
    case 'response':
      return { requestType, modality: 'text', prompt: null, response: '' };
    case 'multiturn':
      return { requestType, modality: 'text', messages: [], turns: 0, conversation: null };
  }
}
