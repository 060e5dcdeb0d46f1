import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import { isList, type Fields } from '../../record.ts';
import { anyConversationDrafts } from '../turns/conversation.ts';
import { settled, type Drafted } from '../draft.ts';
import { draftAnsweredInstruction, draftPromptResponse, draftPromptTurns } from './pairs.ts';
import { draftPreference } from './preference.ts';
import { conversationOf, turnsOf } from '../values.ts';

/** Names a conversation goes by. */
export const CONVERSATION_NAMES: readonly string[] = ['messages', 'conversations', 'conversation'];

/** Of these names, in lower case, each of the shapes has at least one. */
const LEADING_NAMES: ReadonlySet<string> = new Set([
  ...['chosen', ...CONVERSATION_NAMES, 'prompt', 'instruction'],
]);

/** Names under which turns may stand as JSON text. */
const TURNS_NAMES: ReadonlySet<string> = new Set(['prompt', 'chosen', 'rejected']);

/** The list that a judged field has, be it as JSON text that was read as turns; undefined when it has none. */
export function listOf(name: string, value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'string') return isList(value) ? value : undefined;
  if (CONVERSATION_NAMES.includes(name)) return conversationOf(value) ?? undefined;
  return TURNS_NAMES.has(name) ? turnsOf(value) : undefined;
}

/** Whether an object with these names may have one of the shapes: most of those in large records have none. */
export function mayHaveShape(names: readonly string[]): boolean {
  return names.some((name) => LEADING_NAMES.has(name.toLowerCase()));
}

/**
 * What fields ask to be judged that have one of the known shapes of conversations and pairs, wherever in a record they
 * are. The shapes that hold most come first, so that a conversation is not mistaken for one of its parts. Null for
 * others.
 */
export function draftShape(fields: Fields, audit: Audit): Drafted | null {
  return (
    draftPreference(fields, audit) ??
    draftConversation(fields, audit) ??
    draftPromptResponse(fields, audit) ??
    draftAnsweredInstruction(fields) ??
    draftPromptTurns(fields, audit)
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
    return { drafts: anyConversationDrafts(turns, { audit, suffix: '', position: 0 }), judged };
  }
  return null;
}
