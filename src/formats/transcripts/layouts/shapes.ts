import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import { isReadonlyArray, type Fields } from '../../record.ts';
import { draftTurnsOrUtterances } from '../turns/conversation.ts';
import { createFailedDraft, type RecordDrafts } from '../draft.ts';
import {
  draftAnsweredInstruction,
  draftPromptResponse,
  draftPromptTurns,
  draftRecordedGeneration,
} from './pairs.ts';
import { draftPreference } from './preference.ts';
import { parseConversation, parseTurns } from '../values.ts';

/** Names of conversations. */
export const CONVERSATION_NAMES: readonly string[] = ['messages', 'conversations', 'conversation'];

/** Names in lower case; each shape has at least one of them. */
const LEADING_NAMES: ReadonlySet<string> = new Set([
  ...['chosen', ...CONVERSATION_NAMES, 'prompt', 'instruction'],
]);

/** Names whose value may be turns as JSON text. */
const TURNS_NAMES: ReadonlySet<string> = new Set(['prompt', 'chosen', 'rejected']);

/** Returns the list in a judged field, even if it is JSON text; undefined if there is none. */
export function readList(name: string, value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'string') return isReadonlyArray(value) ? value : undefined;
  if (CONVERSATION_NAMES.includes(name)) return parseConversation(value) ?? undefined;
  return TURNS_NAMES.has(name) ? parseTurns(value) : undefined;
}

/** Cheap check whether an object with these names may have one of the shapes: most objects in large records do not. */
export function mayHaveShape(names: readonly string[]): boolean {
  return names.some((name) => LEADING_NAMES.has(name.toLowerCase()));
}

/**
 * Makes the items of an object with a known layout of conversations or pairs, anywhere in a record. Tries larger
 * layouts first, since a pair may contain what would be a conversation on its own. Null for any other object.
 */
export function draftShape(fields: Fields, audit: Audit): RecordDrafts | null {
  return (
    draftPreference(fields, audit) ??
    draftConversation(fields, audit) ??
    draftRecordedGeneration(fields) ??
    draftPromptResponse(fields, audit) ??
    draftAnsweredInstruction(fields) ??
    draftPromptTurns(fields, audit)
  );
}

function draftConversation(fields: Fields, audit: Audit): RecordDrafts | null {
  for (const name of CONVERSATION_NAMES) {
    const turns = parseConversation(fields.get(name));
    if (turns === undefined) continue;
    const judged = [name];
    if (turns === null) {
      const error = itemError('INVALID_CONVERSATION', 'the conversation is not valid JSON');
      return { drafts: [createFailedDraft('', 'multiturn', error)], judged };
    }
    return { drafts: draftTurnsOrUtterances(turns, { audit, suffix: '', position: 0 }), judged };
  }
  return null;
}
