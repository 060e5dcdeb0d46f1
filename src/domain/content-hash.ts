import { createHash, hash } from 'node:crypto';
import { NORMALIZATION } from './normalization.ts';
import {
  isEmbedded,
  isMedia,
  type ItemRequest,
  type Modality,
  type RequestType,
  type Turn,
} from './request.ts';

/** First field of the canonical form; changes with the form. */
const FORM = 'guardsweep-1';

function field(value: string): string {
  return `${Buffer.byteLength(value)}:${value},`;
}

function headOf(requestType: RequestType, modality: Modality): string {
  return field(FORM) + field(requestType) + field(modality);
}

/** The canonical form begins like this for nearly every item. */
const PROMPT_HEAD = headOf('prompt', 'text');

/**
 * The canonical form of a request, whose UTF-8 bytes `content_sha256` hashes: its fields as netstrings (decimal
 * byte length, colon, bytes, comma; https://cr.yp.to/proto/netstrings.txt), so any language can compute it without
 * a JSON convention. Fields in order: the form's name, request type, modality, and then
 * - prompt: the text;
 * - response: the response, then the prompt if there is one;
 * - multiturn: role and content of each submitted turn, in order;
 * - generation: the prompt, then each chunk, in order;
 * - image or audio: the SHA-256 of its file, or of the bytes inside a record or another file, in lower-case hex,
 *   the version of the normalization rules, then the caption or transcript if there is one.
 */
export function canonicalRequest(request: ItemRequest): string {
  if (isMedia(request)) {
    const { file, caption } = request;
    const head = headOf(request.requestType, request.modality);
    return head + field(file.sha256) + field(NORMALIZATION) + (caption === null ? '' : field(caption));
  }
  if (isEmbedded(request)) {
    return (
      headOf('prompt', request.modality) + field(hash('sha256', request.embedded)) + field(NORMALIZATION)
    );
  }
  switch (request.requestType) {
    case 'prompt':
      return PROMPT_HEAD + field(request.text);
    case 'response':
      return (
        headOf('response', 'text') +
        field(request.response) +
        (request.prompt === null ? '' : field(request.prompt))
      );
    case 'generation':
      return headOf('generation', 'text') + field(request.prompt) + request.chunks.map(field).join('');
    case 'multiturn': {
      let form = headOf('multiturn', 'text');
      for (let turn = 0; turn < request.turns; turn++) {
        const [role, content] = request.messages[turn]!;
        form += field(role) + field(content);
      }
      return form;
    }
  }
}

/** SHA-256 of the canonical form: 64 lower-case hex digits. */
export function contentSha256(request: ItemRequest): string {
  return hash('sha256', canonicalRequest(request));
}

/**
 * Like `contentSha256` for the multiturn requests that submit the first message, the first two, and so on up to all of
 * them: one hash per message, in one pass over the conversation.
 */
export function conversationSha256(messages: readonly Turn[]): string[] {
  const hash = createHash('sha256').update(headOf('multiturn', 'text'));
  return messages.map(([role, content]) =>
    hash
      .update(field(role) + field(content))
      .copy()
      .digest('hex'),
  );
}
