import type { Fingerprint } from './fingerprint.ts';
import type { ItemError } from './item-error.ts';
import type { RoleCounts } from './original-role.ts';
import type { Judgement } from './outcome.ts';
import type { ItemRequest, Modality, RequestType } from './request.ts';

/** Items of one lane are of one cost class, so that a slow kind never holds up a fast one. */
export type Lane = 'text' | 'image' | 'audio' | 'chat';

export const LANES: readonly Lane[] = ['text', 'image', 'audio', 'chat'];

/** Where an item came from: what a person needs to find it again. */
export interface ItemSource {
  /** As in sources.jsonl: relative to the corpus the user named, beginning with that corpus's own name. */
  readonly path: string;
  /** 1-based record within the source, a header excluded; null for an item that is a whole file. */
  readonly row: number | null;
  /** 1-based physical line the record begins on; null where the format has no lines. */
  readonly line: number | null;
  /** SHA-256 of the file, for an item that is a whole file. */
  readonly sha256: string | null;
  /** Size of the file in bytes, for an item that is a whole file. */
  readonly bytes: number | null;
}

interface ItemBase {
  /** 0-based position in corpus order: the item's key. */
  readonly seq: number;
  /** The user's own id, which may repeat; else made from the position. */
  readonly id: string;
  readonly source: ItemSource;
  /**
   * Of a conversation, how many of its turns have another role in the record than they are judged in: of its own turns up
   * to the one that is judged. Null when none has. It does not count for the item's identity.
   */
  readonly roles: RoleCounts | null;
}

/** An item the guard is to judge. */
export interface JudgedItem extends ItemBase {
  readonly request: ItemRequest;
  readonly contentSha256: string;
  readonly settled: null;
}

/** An item that has an error before it is judged: a bad row, an unreadable file. */
export interface FailedItem extends ItemBase {
  readonly request: null;
  /** What it would have been judged as, as far as that is known. */
  readonly modality: Modality | null;
  readonly requestType: RequestType | null;
  readonly contentSha256: null;
  readonly settled: SettledError;
}

/** An item whose content has a verdict already. */
export interface KnownItem extends ItemBase {
  readonly request: null;
  readonly modality: Modality;
  readonly requestType: RequestType;
  readonly contentSha256: string;
  readonly settled: SettledVerdict;
}

/** An item that has its outcome before it is judged. */
export type SettledItem = FailedItem | KnownItem;

export interface SettledError {
  readonly judgement: null;
  readonly error: ItemError;
}

export interface SettledVerdict {
  readonly judgement: Judgement;
  /** In full, the one that the judgement names: a verdict of an unknown model settles nothing. */
  readonly fingerprint: Fingerprint;
  readonly error: null;
}

export type Item = JudgedItem | SettledItem;

/** What an item is, or would have been, judged as. */
export function kindOf(item: Item): Pick<SettledItem, 'modality' | 'requestType'> {
  return item.request ?? item;
}

/** The lane an item travels in. Settled items travel with text: they cost nothing. */
export function laneOf({ request }: Item): Lane {
  if (request === null) return 'text';
  return request.requestType === 'multiturn' ? 'chat' : request.modality;
}
