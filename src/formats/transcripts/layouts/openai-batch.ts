import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import { isReadonlyArray, type Fields } from '../../record.ts';
import { readContent } from '../content.ts';
import { draftAttachments } from '../attachments.ts';
import {
  nestInPart,
  formatPart,
  createPromptDraft,
  createFailedDraft,
  type Draft,
  type RecordDrafts,
} from '../draft.ts';
import { draftTurns } from '../turns/conversation.ts';

const JUDGED = ['custom_id', 'method', 'url', 'body'];

const INPUT = 'body.input';
const MESSAGES = 'body.messages';

/** The parts of batch requests, or their prefixes. No other record has such parts. */
export const BATCH_PARTS: readonly string[] = [INPUT, MESSAGES];

/**
 * Makes the items of a line of an OpenAI Batch file. For `/v1/moderations`, `body.input` is a string, a list of strings (one
 * item each), or a list of parts; for `/v1/chat/completions`, `body.messages` is a conversation. Null for any other record.
 */
export function draftBatchRequest(fields: Fields, audit: Audit): RecordDrafts | null {
  const url = fields.get('url');
  if (fields.get('custom_id') === undefined) return null;
  if (url === '/v1/moderations') {
    return { drafts: draftInputs(readMember(fields.get('body'), 'input')), judged: JUDGED };
  }
  const messages = readMember(fields.get('body'), 'messages');
  if (url !== '/v1/chat/completions' || !isReadonlyArray(messages)) return null;
  const drafts = draftTurns(messages, { audit, suffix: '', position: 0 });
  return { drafts: drafts.map((draft) => nestInPart(MESSAGES, draft)), judged: JUDGED };
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function draftInputs(input: unknown): readonly Draft[] {
  if (isReadonlyArray(input) && input.length > 0 && input.every((text) => typeof text === 'string')) {
    return input.map((text, index) =>
      nestInPart(formatPart(INPUT, index + 1), createPromptDraft(`#${index + 1}`, text)),
    );
  }
  return draftInput(input).map((draft) => nestInPart(INPUT, draft));
}

function draftInput(input: unknown): readonly Draft[] {
  if (typeof input === 'string') return [createPromptDraft('', input)];
  if (input === undefined || input === null || (isReadonlyArray(input) && input.length === 0)) {
    return [createFailedDraft('', 'prompt', itemError('MISSING_PAYLOAD', 'the request has no input'))];
  }
  const content = readContent(input);
  if (content === null) {
    return [
      createFailedDraft('', 'prompt', itemError('MALFORMED_ROW', 'the input of the request is not text')),
    ];
  }
  const { text, attachments } = content;
  const hasText = text !== '' || attachments.length === 0;
  return [...(hasText ? [createPromptDraft('', text)] : []), ...draftAttachments(attachments, '')];
}
