import { z } from 'zod';
import type { Item, SettledItem } from '../../domain/item.ts';
import { ITEM_CODES } from '../../domain/item-error.ts';
import {
  MODALITIES,
  REQUEST_TYPES,
  type ItemRequest,
  type Modality,
  type RequestType,
} from '../../domain/request.ts';
import { named, type Names } from './names.ts';
import { count, integer, nullOr, oneOf, row, text, type Check, type Checked } from './rows.ts';

/** What a person finds an item by: seq, id, and of its source the path (named), row, line, hash and bytes. */
type Place = readonly [
  seq: number,
  id: string,
  path: number,
  row: number | null,
  line: number | null,
  sha256: string | null,
  bytes: number | null,
];

const isPlace: Check<Place> = row(
  count,
  text,
  count,
  nullOr(integer),
  nullOr(integer),
  nullOr(text),
  nullOr(count),
);

export const PLACE = z.custom<Place>(isPlace);

export function packPlace({ seq, id, source }: Item, names: Names): Place {
  return [seq, id, names.place(source.path), source.row, source.line, source.sha256, source.bytes];
}

/** Throws when it names what is not in the list. */
export function unpackPlace(
  [seq, id, path, row, line, sha256, bytes]: Place,
  list: readonly string[],
): Pick<Item, 'seq' | 'id' | 'source'> {
  return { seq, id, source: { path: named(list, path), row, line, sha256, bytes } };
}

const isSettled = row(
  isPlace,
  nullOr(oneOf(REQUEST_TYPES)),
  nullOr(oneOf(MODALITIES)),
  oneOf(ITEM_CODES),
  text, // message
);

/** An item that was settled when it was read. */
export const SETTLED_ROW = z.custom<SettledRow>(isSettled);

type SettledRow = Checked<typeof isSettled>;

export function packSettled(item: SettledItem, names: Names): SettledRow {
  const { code, message } = item.error;
  return [packPlace(item, names), item.requestType, item.modality, code, message];
}

/** Throws as `unpackPlace` does. */
export function unpackSettled(
  [place, requestType, modality, code, message]: SettledRow,
  list: readonly string[],
): SettledItem {
  const { seq, id, source } = unpackPlace(place, list);
  return {
    seq,
    id,
    source,
    request: null,
    modality,
    requestType,
    contentSha256: null,
    error: { code, message },
  };
}

const isJudged = row(isPlace, oneOf(REQUEST_TYPES), oneOf(MODALITIES), text /* contentSha256 */);

type ItemRow = Checked<typeof isJudged> | SettledRow;

/** An item as it travels beside its outcome: without its content, which the record has no use for. */
export const ITEM_ROW = z.custom<ItemRow>((value) => isJudged(value) || isSettled(value));

export function packItem(item: Item, names: Names): ItemRow {
  if (item.error !== null) return packSettled(item, names);
  const { requestType, modality } = item.request;
  return [packPlace(item, names), requestType, modality, item.contentSha256];
}

/** Throws when it names what is not in the list. */
export function unpackItem(row: ItemRow, list: readonly string[]): Item {
  if (row.length === 5) return unpackSettled(row, list);
  const [place, requestType, modality, contentSha256] = row;
  const { seq, id, source } = unpackPlace(place, list);
  return { seq, id, source, request: emptied(requestType, modality), contentSha256, error: null };
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
