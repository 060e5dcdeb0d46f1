import { submittedTurns, type ImageRequest, type Turn, type UnaryRequest } from '../../domain/request.ts';
import { mediaType } from '../rest/multipart.ts';

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A chat message of the API. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly Part[];
}

/** An image with its caption, as the parts of a message. */
export function imageParts({ image, caption }: ImageRequest): readonly Part[] {
  const url = `data:${mediaType(image)};base64,${image.toString('base64')}`;
  const picture = { type: 'image_url', image_url: { url } } as const;
  return caption === null ? [picture] : [{ type: 'text', text: caption }, picture];
}

/**
 * The turns of a text item, or of an audio clip's transcript: the last one is judged. A response without a prompt gets
 * an empty one.
 */
export function toTurns(request: Exclude<UnaryRequest, ImageRequest>): readonly Turn[] {
  switch (request.requestType) {
    case 'prompt':
      return [['user', request.modality === 'text' ? request.text : (request.transcript ?? '')]];
    case 'response':
      return [
        ['user', request.prompt ?? ''],
        ['assistant', request.response],
      ];
    case 'multiturn':
      return submittedTurns(request);
  }
}

/**
 * Converts an item to a conversation that every chat template accepts: it begins with the user, and user and assistant
 * alternate. A system turn becomes a user turn that begins with `System:`, consecutive turns of the same role are
 * merged, and an assistant's first turn gets an empty user turn before it.
 */
export function toConversation(request: UnaryRequest): readonly Message[] {
  if (request.modality === 'image') return [{ role: 'user', content: imageParts(request) }];
  const merged: { role: 'user' | 'assistant'; texts: string[] }[] = [];
  for (const [given, text] of toTurns(request)) {
    const role = given === 'assistant' ? 'assistant' : 'user';
    const own = given === 'system' ? `System:\n${text}` : text;
    const last = merged.at(-1);
    if (last?.role === role) last.texts.push(own);
    else merged.push({ role, texts: [own] });
  }
  if (merged[0]?.role === 'assistant') merged.unshift({ role: 'user', texts: [''] });
  return merged.map(({ role, texts }) => ({ role, content: texts.join('\n\n') }));
}
