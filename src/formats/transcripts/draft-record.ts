import type { Audit } from '../../config/run-config.ts';
import { itemError } from '../../domain/item-error.ts';
import { isFields, type Fields, type RecordContent } from '../record.ts';
import { draftKnownColumn, draftNamedColumns, holdsText } from './columns.ts';
import { conversationDrafts } from './conversation.ts';
import { promptDraft, settled, type Drafted } from './draft.ts';
import { draftModerationBatch } from './openai-batch.ts';
import {
  draftAnsweredInstruction,
  draftInstruction,
  draftPromptResponse,
  draftPromptTurns,
} from './pairs.ts';
import { draftPreference } from './preference.ts';
import { conversationOf } from './values.ts';

/** How the records of one file are understood, beyond what each shows by itself. */
export interface RecordOptions {
  /** Columns the user named; null: each record is recognised by its names. */
  readonly textColumns: readonly string[] | null;
  /** The file's only text column, for records with no name we know. */
  readonly onlyTextColumn: string | null;
  readonly audit: Audit;
}

/** Names a conversation goes by. */
const CONVERSATION_NAMES = ['messages', 'conversations', 'conversation'];

const NOTHING: Drafted = {
  drafts: [settled('', null, itemError('MISSING_PAYLOAD', 'the record has no text to judge'))],
  judged: [],
};

/**
 * What a record asks to be judged, recognised by its names and the types of their values: the layouts that hold most
 * come first, so that a conversation is not mistaken for one of its parts. Always at least one draft.
 */
export function draftRecord(content: RecordContent, options: RecordOptions): Drafted {
  if (typeof content === 'string') return { drafts: [promptDraft('', content)], judged: [] };
  if (!isFields(content)) {
    return {
      drafts: conversationDrafts(content, { audit: options.audit, suffix: '', position: 0 }),
      judged: [],
    };
  }
  if (options.textColumns !== null) return draftNamedColumns(content, options.textColumns);
  return (
    recognise(content, options.audit) ??
    (options.onlyTextColumn === null ? NOTHING : draftNamedColumns(content, [options.onlyTextColumn]))
  );
}

/** What a record of a known layout asks to be judged; null when nothing in it goes by a name we know. */
export function recognise(fields: Fields, audit: Audit): Drafted | null {
  return (
    draftModerationBatch(fields) ??
    draftPreference(fields, audit) ??
    draftConversation(fields, audit) ??
    draftPromptResponse(fields, audit) ??
    draftAnsweredInstruction(fields) ??
    draftPromptTurns(fields, audit) ??
    draftKnownColumn(fields) ??
    draftInstruction(fields) ??
    draftMisshapenConversation(fields)
  );
}

function draftConversation(fields: Fields, audit: Audit): Drafted | null {
  for (const name of CONVERSATION_NAMES) {
    const turns = conversationOf(fields.get(name));
    if (turns === undefined) continue;
    const judged = [name];
    if (turns === null) {
      const error = itemError('INVALID_CONVERSATION', 'the conversation is not valid JSON');
      return { drafts: [settled('', 'multiturn', error)], judged };
    }
    return { drafts: conversationDrafts(turns, { audit, suffix: '', position: 0 }), judged };
  }
  return null;
}

/** Something other than turns under a name that only conversations go by. A count of messages is nothing of the kind. */
function draftMisshapenConversation(fields: Fields): Drafted | null {
  const name = CONVERSATION_NAMES.find((candidate) => {
    const value = fields.get(candidate);
    return holdsText(value) ? candidate !== 'conversation' : typeof value === 'object' && value !== null;
  });
  if (name === undefined) return null;
  const error = itemError('INVALID_CONVERSATION', 'the conversation is not a list of turns');
  return { drafts: [settled('', 'multiturn', error)], judged: [name] };
}
