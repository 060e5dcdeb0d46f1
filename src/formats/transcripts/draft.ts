import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { RoleCounts } from '../../domain/original-role.ts';
import type { ItemRequest, Modality, RequestType } from '../../domain/request.ts';

interface DraftBase {
  /** What the item's id adds to its record's: empty, or `#` and what tells it from the record's other items. */
  readonly suffix: string;
  /** As the item has them; absent as good as null. */
  readonly roles?: RoleCounts | null;
}

/** An item to be judged, before it has its place in the corpus. */
interface JudgedDraft extends DraftBase {
  /** A `conversation` in it counts from the record's first item: the index of the conversation's first turn. */
  readonly request: ItemRequest;
  readonly error: null;
}

/** An item that already has its outcome. */
export interface SettledDraft extends DraftBase {
  readonly request: null;
  readonly modality: Modality | null;
  readonly requestType: RequestType | null;
  readonly error: ItemError;
}

export type Draft = JudgedDraft | SettledDraft;

/** What a record asks to be judged. */
export interface Drafted {
  readonly drafts: readonly Draft[];
  /** Names, as they were looked up, of the fields that were judged or gave the id. */
  readonly judged: readonly string[];
}

/** White space alone, which the guard refuses as empty content. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

export function promptDraft(suffix: string, text: string): Draft {
  if (isBlank(text)) return settled(suffix, 'prompt', itemError('EMPTY_CONTENT', 'the text is blank'));
  return { suffix, request: { requestType: 'prompt', modality: 'text', text }, error: null };
}

/** An answer to a prompt; a blank prompt counts as none. */
export function responseDraft(suffix: string, prompt: string | null, response: string): Draft {
  if (isBlank(response)) {
    return settled(suffix, 'response', itemError('EMPTY_CONTENT', 'the response is blank'));
  }
  const known = prompt === null || isBlank(prompt) ? null : prompt;
  return {
    suffix,
    request: { requestType: 'response', modality: 'text', prompt: known, response },
    error: null,
  };
}

export function settled(
  suffix: string,
  requestType: RequestType | null,
  error: ItemError,
  roles: RoleCounts | null = null,
): SettledDraft {
  return { suffix, roles, request: null, modality: 'text', requestType, error };
}
