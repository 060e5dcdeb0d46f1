import type { UnaryRequest } from '../../domain/request.ts';

/** Context window in tokens; longer content is rejected with SEQUENCE_OVERFLOW. */
export const DEFAULT_CONTEXT_TOKENS = 8192;

/** Mean token size of a subword vocabulary on English text. */
const BYTES_PER_TOKEN = 4;

/**
 * Number of tokens in text by this guard's rule: one per four bytes of UTF-8, rounded up. No vocabulary is involved, so
 * clients can compute it too.
 */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Tokens of all texts in a request, each rounded up separately. Images and audio count as zero. */
export function tokensOf(request: UnaryRequest): number {
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
