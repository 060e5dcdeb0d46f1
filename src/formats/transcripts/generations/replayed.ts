import type { Replay } from '../../../config/run-config.ts';
import { errorWithReason } from '../../../domain/item-error.ts';
import {
  type GenerationRequest,
  history,
  type ItemRequest,
  type MultiturnRequest,
  type ResponseRequest,
} from '../../../domain/request.ts';
import { isBlank, type Draft } from '../draft.ts';
import { cutResponse } from './cut-response.ts';

const NO_GENERATION = errorWithReason(
  'no_generation',
  'there is no prompt with a response that could be replayed as a stream',
);

/** The same item with its generation judged as one response. */
export function joined(draft: Draft): Draft {
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
 * The same item with its response replayed as a stream: in the chunks it was recorded in, otherwise cut. Of a
 * conversation, the final turn is replayed, and the turns before it, joined by empty lines, are its prompt. Anything else
 * becomes an error.
 */
export function replayed(draft: Draft, replay: Replay): Draft {
  if (draft.request === null) return draft;
  const request = generationOf(draft.request, replay);
  if (request !== null) return { ...draft, request };
  const { modality, requestType } = draft.request;
  return { ...draft, request: null, modality, requestType, error: NO_GENERATION };
}

function generationOf(request: ItemRequest, replay: Replay): GenerationRequest | null {
  switch (request.requestType) {
    case 'generation':
      return { ...request, cadenceChunks: replay.cadenceChunks };
    case 'response':
      return request.prompt === null ? null : cut(request.prompt, request.response, replay);
    case 'multiturn':
      return finalResponse(request, replay);
    case 'prompt':
      return null;
  }
}

function finalResponse(request: MultiturnRequest, replay: Replay): GenerationRequest | null {
  const turns = history(request);
  const [role, response] = turns.at(-1)!;
  const before = turns.slice(0, -1).map(([, content]) => content);
  if (role !== 'assistant' || isBlank(response) || before.every(isBlank)) return null;
  return cut(before.join('\n\n'), response, replay);
}

function cut(prompt: string, response: string, { chunkChars, cadenceChunks }: Replay): GenerationRequest {
  const chunks = cutResponse(response, chunkChars);
  return { requestType: 'generation', modality: 'text', prompt, chunks, cadenceChunks };
}
