import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import { isReadonlyArray, type Fields } from '../../record.ts';
import { messageContent } from '../content.ts';
import { attachmentDrafts } from '../attachments.ts';
import { inPart, numberedPart, promptDraft, settled, type Draft, type Drafted } from '../draft.ts';
import { conversationDrafts } from '../turns/conversation.ts';

const JUDGED = ['custom_id', 'method', 'url', 'body'];

const INPUT = 'body.input';
const MESSAGES = 'body.messages';

/** The parts that the items of a batch request are, or that theirs begin with. No other record has such parts. */
export const BATCH_PARTS: readonly string[] = [INPUT, MESSAGES];

/**
 * A line of an OpenAI Batch file. For `/v1/moderations`, `body.input` is a text, several texts (one item each), or one
 * input in parts; for `/v1/chat/completions`, `body.messages` is a conversation. Null for any other record.
 */
export function draftBatchRequest(fields: Fields, audit: Audit): Drafted | null {
  const url = fields.get('url');
  if (fields.get('custom_id') === undefined) return null;
  if (url === '/v1/moderations') {
    return { drafts: inputDrafts(memberOf(fields.get('body'), 'input')), judged: JUDGED };
  }
  const messages = memberOf(fields.get('body'), 'messages');
  if (url !== '/v1/chat/completions' || !isReadonlyArray(messages)) return null;
  const drafts = conversationDrafts(messages, { audit, suffix: '', position: 0 });
  return { drafts: drafts.map((draft) => inPart(MESSAGES, draft)), judged: JUDGED };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function inputDrafts(input: unknown): readonly Draft[] {
  if (isReadonlyArray(input) && input.length > 0 && input.every((text) => typeof text === 'string')) {
    return input.map((text, index) =>
      inPart(numberedPart(INPUT, index + 1), promptDraft(`#${index + 1}`, text)),
    );
  }
  return oneInput(input).map((draft) => inPart(INPUT, draft));
}

function oneInput(input: unknown): readonly Draft[] {
  if (typeof input === 'string') return [promptDraft('', input)];
  if (input === undefined || input === null || (isReadonlyArray(input) && input.length === 0)) {
    return [settled('', 'prompt', itemError('MISSING_PAYLOAD', 'the request has no input'))];
  }
  const content = messageContent(input);
  if (content === null) {
    return [settled('', 'prompt', itemError('MALFORMED_ROW', 'the input of the request is not text'))];
  }
  const { text, attachments } = content;
  const hasText = text !== '' || attachments.length === 0;
  return [...(hasText ? [promptDraft('', text)] : []), ...attachmentDrafts(attachments, '')];
}
