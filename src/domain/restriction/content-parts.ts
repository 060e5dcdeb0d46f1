import { hash } from 'node:crypto';
import { contentSha256, conversationSha256 } from '../content-hash.ts';
import { submittedTurns, isEmbedded, isMedia, type ItemRequest } from '../request.ts';

/**
 * Returns the content hashes of a request and of its parts (turns, prompt, caption) as if each were an item of its own,
 * and the SHA-256 of a media file or of an image embedded in a record. `sha256` is the content hash of the request, if
 * known.
 */
export function partsSha256(request: ItemRequest, sha256: string | null = null): string[] {
  if (isMedia(request)) {
    const alone = contentSha256({ ...request, caption: null });
    return [request.file.sha256, alone, ...ofText(request.caption)];
  }
  if (isEmbedded(request)) return [hash('sha256', request.embedded), contentSha256(request)];
  switch (request.requestType) {
    case 'prompt':
      return ofText(request.text, sha256);
    case 'response':
      return [...ofText(request.prompt), ...ofText(request.response), contentSha256(request)];
    case 'generation': {
      const { prompt, chunks } = request;
      const response = chunks.join('');
      return [...ofText(prompt), ...ofText(response), ofPair(prompt, response)];
    }
    case 'multiturn': {
      const turns = submittedTurns(request);
      const pairs = turns.slice(1).map(([, text], index) => ofPair(turns[index]![1], text));
      return [...conversationSha256(turns), ...turns.flatMap(([, text]) => ofText(text)), ...pairs];
    }
  }
}

/** Hashes a string as a prompt, and as a response without its prompt. */
function ofText(text: string | null, sha256: string | null = null): string[] {
  if (text === null) return [];
  return [
    sha256 ?? contentSha256({ requestType: 'prompt', modality: 'text', text }),
    contentSha256({ requestType: 'response', modality: 'text', prompt: null, response: text }),
  ];
}

function ofPair(prompt: string, response: string): string {
  return contentSha256({ requestType: 'response', modality: 'text', prompt, response });
}
