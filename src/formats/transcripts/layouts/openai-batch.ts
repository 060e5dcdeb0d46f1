import { itemError } from '../../../domain/item-error.ts';
import { isList, type Fields } from '../../record.ts';
import { messageContent } from '../content.ts';
import { attachmentDrafts } from '../attachments.ts';
import { inPart, numberedPart, promptDraft, settled, type Draft, type Drafted } from '../draft.ts';

const JUDGED = ['custom_id', 'method', 'url', 'body'];

/**
 * A line of an OpenAI Batch file for `/v1/moderations`: `body.input` is a text, several texts (one item each), or one
 * input in parts. Null for any other record.
 */
export function draftModerationBatch(fields: Fields): Drafted | null {
  const url = fields.get('url');
  const body = fields.get('body');
  if (fields.get('custom_id') === undefined || url !== '/v1/moderations') return null;
  const input =
    typeof body === 'object' && body !== null ? (body as { readonly input?: unknown }).input : undefined;
  return { drafts: inputDrafts(input), judged: JUDGED };
}

function inputDrafts(input: unknown): readonly Draft[] {
  if (typeof input === 'string') return [promptDraft('', input)];
  if (input === undefined || input === null || (isList(input) && input.length === 0)) {
    return [settled('', 'prompt', itemError('MISSING_PAYLOAD', 'the request has no input'))];
  }
  if (isList(input) && input.every((text) => typeof text === 'string')) {
    return input.map((text, index) =>
      inPart(numberedPart('input', index + 1), promptDraft(`#${index + 1}`, text)),
    );
  }
  const content = messageContent(input);
  if (content === null) {
    return [settled('', 'prompt', itemError('MALFORMED_ROW', 'the input of the request is not text'))];
  }
  const { text, attachments } = content;
  const hasText = text !== '' || attachments.length === 0;
  return [...(hasText ? [promptDraft('', text)] : []), ...attachmentDrafts(attachments, '')];
}
