import type { Replay } from '../../config/run-config.ts';
import { errorWithReason } from '../../domain/item-error.ts';
import {
  type GenerationRequest,
  submittedTurns,
  type ItemRequest,
  type MultiturnRequest,
  type ResponseRequest,
} from '../../domain/request.ts';
import { graphemeBoundary } from '../../domain/text/characters.ts';
import { isReadonlyArray } from '../record.ts';
import { type Draft, isBlank } from './draft.ts';

const NO_GENERATION = errorWithReason(
  'no_generation',
  'there is no prompt with a response that could be replayed as a stream',
);

/** Joins the chunks of a generation into one response; returns other drafts unchanged. */
export function joinChunks(draft: Draft): Draft {
  if (draft.request === null || draft.request.requestType !== 'generation') return draft;
  const { prompt, chunks } = draft.request;
  const request: ResponseRequest = {
    requestType: 'response',
    modality: 'text',
    prompt,
    response: chunks.join(''),
  };
  return { ...draft, request };
}

/**
 * Replays the response of an item as a stream, in its recorded chunks or split into chunks. For a conversation, the final turn
 * is replayed, with the turns before it, joined by empty lines, as its prompt. Anything else becomes an error.
 */
export function createReplay(draft: Draft, replay: Replay): Draft {
  if (draft.request === null) return draft;
  const request = toGeneration(draft.request, replay);
  if (request !== null) return { ...draft, request };
  const { modality, requestType } = draft.request;
  return { ...draft, request: null, modality, requestType, error: NO_GENERATION };
}

function toGeneration(request: ItemRequest, replay: Replay): GenerationRequest | null {
  switch (request.requestType) {
    case 'generation':
      return { ...request, cadenceChunks: replay.cadenceChunks };
    case 'response':
      return request.prompt === null ? null : replayResponse(request.prompt, request.response, replay);
    case 'multiturn':
      return replayFinalTurn(request, replay);
    case 'prompt':
      return null;
  }
}

function replayFinalTurn(request: MultiturnRequest, replay: Replay): GenerationRequest | null {
  const turns = submittedTurns(request);
  const [role, response] = turns.at(-1)!;
  const before = turns.slice(0, -1).map(([, content]) => content);
  if (role !== 'assistant' || isBlank(response) || before.every(isBlank)) return null;
  return replayResponse(before.join('\n\n'), response, replay);
}

function replayResponse(
  prompt: string,
  response: string,
  { chunkChars, cadenceChunks }: Replay,
): GenerationRequest {
  const chunks = splitResponse(response, chunkChars);
  return { requestType: 'generation', modality: 'text', prompt, chunks, cadenceChunks };
}

/**
 * Reads the recorded chunks of a response from a list of strings; null for any other value. Skips empty chunks and null,
 * which a stream must not send. If a chunk ends within a surrogate pair, the next chunk gets its first half.
 */
export function readChunks(value: unknown): string[] | null {
  if (!isReadonlyArray(value) || !value.every(isChunk)) return null;
  const chunks: string[] = [];
  let half = '';
  for (const recorded of value) {
    const text = half + (recorded ?? '');
    const whole = endsWithHalf(text) ? text.slice(0, -1) : text;
    half = text.slice(whole.length);
    if (whole !== '') chunks.push(whole);
  }
  if (half !== '') chunks.push(half);
  return chunks;
}

function isChunk(value: unknown): value is string | null {
  return typeof value === 'string' || value === null;
}

function endsWithHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** Splits a response into chunks of at most `maxChars` code points, between graphemes if possible. */
export function splitResponse(response: string, maxChars: number): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < response.length;) {
    const limit = advance(response, from, maxChars);
    const to = limit === response.length ? limit : graphemeBoundary(response, from, limit);
    chunks.push(response.slice(from, to));
    from = to;
  }
  return chunks;
}

/** The position `points` code points after `from`, or the end of the text. */
function advance(text: string, from: number, points: number): number {
  let at = from;
  for (let point = 0; point < points && at < text.length; point++) {
    at += text.codePointAt(at)! < 0x10000 ? 1 : 2;
  }
  return at;
}
