import type { GuardRequest } from '../../domain/request.ts';

/** Tokens a content may have before it is refused with SEQUENCE_OVERFLOW, unless the model says otherwise. */
export const DEFAULT_CONTEXT_TOKENS = 8192;

/** Mean size of a token of a subword vocabulary on English text. */
const BYTES_PER_TOKEN = 4;

/**
 * Tokens of a text by the rule this guard counts with: a token for every four bytes of UTF-8, begun ones included.
 * No vocabulary is involved, so a client can compute it too.
 */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Tokens of all text that a request submits; each text is counted by itself, images and sounds are not. */
export function tokensOf(request: GuardRequest): number {
  switch (request.requestType) {
    case 'prompt':
      switch (request.modality) {
        case 'text':
          return tokensOfText(request.text);
        case 'image':
          return tokensOfText(request.caption ?? '');
        case 'audio':
          return tokensOfText(request.transcript ?? '');
      }
    case 'response':
      return tokensOfText(request.prompt ?? '') + tokensOfText(request.response);
    case 'multiturn': {
      let tokens = 0;
      for (let turn = 0; turn < request.turns; turn++) tokens += tokensOfText(request.messages[turn]![1]);
      return tokens;
    }
  }
}

/** Tokens of one text. */
export function tokensOfText(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}
