import type { Fingerprint } from './fingerprint.ts';
import type { ItemError } from './item-error.ts';
import type { RoleCounts, ItemRequest, Modality, RequestType } from './request.ts';
import type { Judgement } from './outcome.ts';
import type { Snippet } from './text/snippet.ts';

/** A cost class of items. Each has its own queue, so slow items do not delay fast ones. */
export type Lane = 'text' | 'image' | 'audio' | 'chat';

export const LANES: readonly Lane[] = ['text', 'image', 'audio', 'chat'];

/** Location of an item in its corpus. */
export interface ItemSource {
  /** Path as in sources.jsonl: relative to the corpus the user named, beginning with that corpus's own name. */
  readonly path: string;
  /** 1-based number of the record in the source, not counting a header; null for a whole-file item. */
  readonly row: number | null;
  /** 1-based physical line on which the record begins; null for formats without lines. */
  readonly line: number | null;
  /** SHA-256 of the file, for a whole-file item. */
  readonly sha256: string | null;
  /** Size of the file in bytes, for a whole-file item. */
  readonly bytes: number | null;
  /**
   * Byte offset of the record in the file, and its length in bytes, including the line break that ends it; null for a
   * whole-file item, and in a file that is compressed, not UTF-8, or not text.
   */
  readonly offset: number | null;
  readonly length: number | null;
}

interface ItemBase {
  /** 0-based position in corpus order: the item's key. */
  readonly seq: number;
  /** The user's own id, which need not be unique; otherwise derived from the position. */
  readonly id: string;
  readonly source: ItemSource;
  /**
   * For a conversation, the number of submitted turns by original role, if it differs from the role they are judged in.
   * Null if there are none. Not part of the item's identity.
   */
  readonly roles: RoleCounts | null;
  /**
   * The part of its record that the item is: `chosen`, `image`, `comments[2]`; null for the record itself and for a
   * whole file. The turns of a conversation share its part.
   */
  readonly part: string | null;
  /** For a turn of a conversation that is judged at every turn, its 1-based number in the record; otherwise null. */
  readonly turn: number | null;
}

/** An item for the guard to judge. */
export interface JudgedItem extends ItemBase {
  readonly request: ItemRequest;
  readonly contentSha256: string;
  readonly settled: null;
}

/** An item that failed before it was judged: a bad row, an unreadable file. */
export interface FailedItem extends ItemBase {
  readonly request: null;
  /** The modality it would have been judged in; null if unknown. */
  readonly modality: Modality | null;
  readonly requestType: RequestType | null;
  readonly contentSha256: null;
  readonly settled: SettledError;
}

/** An item whose content already has a verdict. */
export interface ReusedItem extends ItemBase {
  readonly request: null;
  readonly modality: Modality;
  readonly requestType: RequestType;
  readonly contentSha256: string;
  readonly settled: SettledVerdict;
}

/** An item that needs no judging: its outcome is known. */
export type SettledItem = FailedItem | ReusedItem;

export interface SettledError {
  readonly judgement: null;
  readonly error: ItemError;
}

export interface SettledVerdict {
  readonly judgement: Judgement;
  /** Full fingerprint of the model that judged it: a verdict of an unknown model is not reused. */
  readonly fingerprint: Fingerprint;
  /** Name of the run that judged the content. */
  readonly reusedFrom: string;
  /** Excerpt of the content in the outcome, in a run with content; null if it has none. */
  readonly snippet: Snippet | null;
  readonly error: null;
}

export type Item = JudgedItem | SettledItem;

/** Whether an item reuses the verdict on its content from this run or another. */
export function hasReusedVerdict(item: Item): item is ReusedItem {
  return item.settled !== null && item.settled.judgement !== null;
}

/** The modality and request type of an item, whether or not it was judged. */
export function itemKind(item: Item): Pick<SettledItem, 'modality' | 'requestType'> {
  return item.request ?? item;
}

/** Chooses the lane of an item. Settled items use the text lane, since they cost nothing. */
export function chooseLane({ request }: Item): Lane {
  if (request === null) return 'text';
  const { requestType, modality } = request;
  return requestType === 'multiturn' || requestType === 'generation' ? 'chat' : modality;
}
