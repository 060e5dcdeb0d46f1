import { z } from 'zod';
import type { Item, SettledItem } from '../../domain/item.ts';
import { ITEM_CODES } from '../../domain/item-error.ts';
import type { ItemRequest, Modality, RequestType } from '../../domain/request.ts';
import { named, type Names } from './names.ts';

const count = z.int().min(0);
const text = z.string();

/** What a person finds an item by: seq, id, and of its source the path (named), row, line, hash and bytes. */
export const PLACE = z.tuple([
  count,
  text,
  count,
  z.int().nullable(),
  z.int().nullable(),
  text.nullable(),
  count.nullable(),
]);

type Place = z.output<typeof PLACE>;

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

/** An item that was settled when it was read. */
export const SETTLED_ROW = z.tuple([
  PLACE,
  z.enum(['prompt', 'response', 'multiturn']).nullable(),
  z.enum(['text', 'image', 'audio']).nullable(),
  z.enum(ITEM_CODES),
  text, // message
]);

type SettledRow = z.output<typeof SETTLED_ROW>;

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

const JUDGED = z.tuple([
  PLACE,
  z.enum(['prompt', 'response', 'multiturn']),
  z.enum(['text', 'image', 'audio']),
  text, // contentSha256
]);

/** An item as it travels beside its outcome: without its content, which the record has no use for. */
export const ITEM_ROW = z.union([JUDGED, SETTLED_ROW]);

type ItemRow = z.output<typeof ITEM_ROW>;

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
