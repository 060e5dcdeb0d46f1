import type { ItemError } from './item-error.ts';
import type { RoleCounts } from './original-role.ts';
import type { GuardRequest, ItemRequest, Modality, RequestType } from './request.ts';

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
  readonly error: null;
}

/** An item that already has its outcome when it is read: a bad row, an unreadable file. */
export interface SettledItem extends ItemBase {
  readonly request: null;
  /** What it would have been judged as, where that much is known. */
  readonly modality: Modality | null;
  readonly requestType: RequestType | null;
  readonly contentSha256: null;
  readonly error: ItemError;
}

export type Item = JudgedItem | SettledItem;

/** The lane an item travels in. Settled items travel with text: they cost nothing. */
export function laneOf({ request }: Item): Lane {
  if (request === null) return 'text';
  return request.requestType === 'multiturn' ? 'chat' : request.modality;
}

export const COVERAGE_UNITS = ['chars', 'turns', 'frames', 'seconds'] as const;

/** How much of an item the guard judged, in the unit of its kind. */
export interface Coverage {
  readonly unit: (typeof COVERAGE_UNITS)[number];
  readonly judged: number;
  readonly total: number;
  /** Where the part that decided begins; null when the item was judged in one piece. */
  readonly worst_at: number | null;
}

/** Audio in normal form is a WAV file: a header of 44 bytes, then 16 000 samples of two bytes a second. */
const WAV_HEADER_BYTES = 44;
const WAV_BYTES_PER_SECOND = 32_000;

/**
 * Coverage of a request that is judged whole: Unicode code points of a text, turns of a conversation, a frame, seconds
 * of audio.
 */
export function wholeCoverage(request: GuardRequest): Coverage {
  if (request.requestType === 'multiturn') return whole('turns', request.turns);
  if (request.requestType === 'response') return whole('chars', codePoints(request.response));
  switch (request.modality) {
    case 'text':
      return whole('chars', codePoints(request.text));
    case 'image':
      return whole('frames', 1);
    case 'audio':
      return whole('seconds', (request.audio.length - WAV_HEADER_BYTES) / WAV_BYTES_PER_SECOND);
  }
}

function whole(unit: Coverage['unit'], total: number): Coverage {
  return { unit, judged: total, total, worst_at: null };
}

const SURROGATE = /[\ud800-\udfff]/;

/** Length of a text in Unicode code points; an unpaired surrogate counts as one. */
export function codePoints(text: string): number {
  // Most texts have none, and this finds out sooner than looking at every unit does.
  if (!SURROGATE.test(text)) return text.length;
  let surrogatePairs = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        surrogatePairs++;
        index++;
      }
    }
  }
  return text.length - surrogatePairs;
}
