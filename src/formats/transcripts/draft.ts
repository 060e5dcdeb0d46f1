import { errorWithReason, type ItemError, itemError } from '../../domain/item-error.ts';
import type { RoleCounts, ItemRequest, Modality, RequestType, TextRequest } from '../../domain/request.ts';
import { isEncodedText } from '../encoding/encoded-text.ts';

interface DraftBase {
  /** Suffix of the item's id after its record's id: empty, or `#` and a part that is unique in the record. */
  readonly suffix: string;
  /** The item's role counts; absent means null. */
  readonly roles?: RoleCounts | null;
  /** Part of the record (see `nestInPart`); absent means null. */
  readonly part?: string | null;
  /** For a turn that is an item of its own, its 1-based number in the record; absent means null. */
  readonly turn?: number;
}

/** An item to be judged that has no position in the corpus yet. */
interface JudgedDraft extends DraftBase {
  /** Its `conversation`, if any, is the index of the conversation's first turn, counted from the record's first item. */
  readonly request: ItemRequest;
  readonly error: null;
}

/** An item whose outcome is already an error. */
export interface FailedDraft extends DraftBase {
  readonly request: null;
  readonly modality: Modality | null;
  readonly requestType: RequestType | null;
  readonly error: ItemError;
}

export type Draft = JudgedDraft | FailedDraft;

/** The items of a record. */
export interface RecordDrafts {
  readonly drafts: readonly Draft[];
  /** Names, as looked up, of the fields that were judged or used as the id. */
  readonly judged: readonly string[];
}

/** Puts a draft into a part of its record: `rejected`, or `rejected.image` for an image in it. */
export function nestInPart(name: string, draft: Draft): Draft {
  return { ...draft, part: (draft.part ?? null) === null ? name : `${name}.${draft.part}` };
}

/** Label of one of several parts, numbered from 1. */
export function formatPart(name: string, number: number): string {
  return `${name}[${number}]`;
}

/** Whether a string is only white space, which the guard rejects as empty content. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

export function createPromptDraft(suffix: string, text: string): Draft {
  if (isBlank(text))
    return createFailedDraft(suffix, 'prompt', itemError('EMPTY_CONTENT', 'the text is blank'));
  return { suffix, request: { requestType: 'prompt', modality: 'text', text }, error: null };
}

/** Makes the item of an answer to a prompt. A blank prompt is ignored. */
export function createResponseDraft(suffix: string, prompt: string | null, response: string): Draft {
  if (isBlank(response)) {
    return createFailedDraft(suffix, 'response', itemError('EMPTY_CONTENT', 'the response is blank'));
  }
  const known = prompt === null || isBlank(prompt) ? null : prompt;
  return {
    suffix,
    request: { requestType: 'response', modality: 'text', prompt: known, response },
    error: null,
  };
}

export const ENCODED = errorWithReason('encoded_content', 'encoded data in a record is not judged');
/** Maximum characters of a string that are examined. */
const EXAMINED_CHARS = 64 * 1024;

/** Replaces a draft by an error if it contains encoded data, whose letters are not words. */
export function rejectEncoded(draft: Draft): Draft {
  const { request } = draft;
  if (request?.modality !== 'text') return draft;
  const { requestType } = request;
  if (!listTexts(request).some((text) => text !== null && isEncoded(text))) return draft;
  return { ...draft, request: null, modality: 'text', requestType, error: ENCODED };
}

/**
 * Lists the texts to check. The earlier turns of a conversation that is judged at every turn are items of their own.
 */
function listTexts(request: TextRequest): readonly (string | null)[] {
  switch (request.requestType) {
    case 'prompt':
      return [request.text];
    case 'response':
      return [request.prompt, request.response];
    case 'generation':
      return [request.prompt, request.chunks.join('')];
    case 'multiturn': {
      const from = request.conversation === null ? 0 : request.turns - 1;
      return request.messages.slice(from, request.turns).map(([, content]) => content);
    }
  }
}

function isEncoded(text: string): boolean {
  return isEncodedText(text.slice(0, EXAMINED_CHARS), { isAll: text.length <= EXAMINED_CHARS });
}

export function createFailedDraft(
  suffix: string,
  requestType: RequestType | null,
  error: ItemError,
  roles: RoleCounts | null = null,
): FailedDraft {
  return { suffix, roles, request: null, modality: 'text', requestType, error };
}

/** Field names that parts may contain: identifiers, joined by dots, of at most 40 characters. Other names may be content. */
const FIELD_NAME = /^(?=.{1,40}$)[\p{L}_][\p{L}\p{N}_-]*(?:\.[\p{L}_][\p{L}\p{N}_-]*)*$/u;

/** Numbers the pieces of a record by field. */
export class PartCounter {
  readonly #pieces = new Map<string, number>();

  /** Label of the next piece in a field: `comments[2]`, or `nested[2]` if parts may not contain the field's name. */
  next(field: string | undefined): string {
    const name = field !== undefined && FIELD_NAME.test(field) ? field : 'nested';
    const number = (this.#pieces.get(name) ?? 0) + 1;
    this.#pieces.set(name, number);
    return formatPart(name, number);
  }
}
