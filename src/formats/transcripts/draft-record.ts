import type { Audit } from '../../config/run-config.ts';
import { errorWithReason, itemError } from '../../domain/item-error.ts';
import { isFields, type Fields, type RecordContent } from '../record.ts';
import { draftKnownColumn, draftNoText, hasUnknownText, holdsText, ID_NAMES } from './columns.ts';
import { messageDrafts } from './turns/chat.ts';
import { anyConversationDrafts } from './turns/conversation.ts';
import { spokenIn } from './turns/speakers.ts';
import { promptDraft, settled, type Draft, type Drafted } from './draft.ts';
import { draftNamedColumns } from './layouts/named-columns.ts';
import { NestedItems, type NestedOptions } from './layouts/nested.ts';
import { draftBatchRequest } from './layouts/openai-batch.ts';
import { draftInstruction } from './layouts/pairs.ts';
import { CONVERSATION_NAMES, draftShape, listOf } from './layouts/shapes.ts';
import { textOf } from './values.ts';
import { looksLikeId } from './wording.ts';

/** How to interpret the records of one file. */
export interface RecordOptions {
  /** Columns the user named; null: records are recognised by their names. */
  readonly textColumns: readonly string[] | null;
  /** The columns that are texts by what they hold, for records without a known name (`textColumnsOf`). */
  readonly foundColumns: readonly string[];
  readonly audit: Audit;
  /** Whether the records are the messages of a chat. */
  readonly isChat: boolean;
  /** Whether no column of the file is recognised as its text: then each record is one that is not judged. */
  readonly hasNoText: boolean;
}

const NOTHING: Drafted = {
  drafts: [settled('', null, itemError('MISSING_PAYLOAD', 'the record has no text to judge'))],
  judged: [],
};

const UNKNOWN_TEXT: Drafted = {
  drafts: [
    settled('', null, errorWithReason('no_text_column', 'no column of the record is recognised as its text')),
  ],
  judged: [],
};

const FILE_WITHOUT_TEXT: Drafted = {
  drafts: [
    settled('', null, errorWithReason('no_text_column', 'no column of the file is recognised as its text')),
  ],
  judged: [],
};

/**
 * The items of a record: first those recognised by names and types of values, then those in its lists and objects.
 * At least one draft, unless it is a message of a chat. `passed` is called for each skipped string in lists and objects.
 */
export function draftRecord(
  content: RecordContent,
  options: RecordOptions,
  passed?: NestedOptions['passed'],
): Drafted {
  if (options.hasNoText) return FILE_WITHOUT_TEXT;
  if (typeof content === 'string') return { drafts: [promptDraft('', content)], judged: [] };
  const { audit, textColumns, foundColumns, isChat } = options;
  if (!isFields(content)) {
    const drafts = anyConversationDrafts(content, { audit, suffix: '', position: 0 });
    const items = new NestedItems({ audit, before: drafts.length, lenient: false, passed });
    items.beside(null, content);
    return { drafts: drafts.concat(items.drafts()), judged: [] };
  }
  if (textColumns !== null) return draftNamedColumns(content, textColumns, { audit, passed });
  if (isChat) {
    const message = draftMessage(content, audit, passed);
    if (message !== null) return message;
  }
  let main = recognise(content, audit);
  if (main === null && foundColumns.some((name) => hasText(content, name))) {
    main = draftNamedColumns(content, foundColumns, { audit, passed });
  }
  const found =
    main !== null
      ? withNested(content, main, audit, passed)
      : content.nestedNames().length === 0
        ? null
        : draftUnknown(content, audit, passed);
  const settledRecord = found ?? draftMisshapenConversation(content) ?? draftNoText(content);
  return settledRecord ?? (hasUnknownText(content) ? UNKNOWN_TEXT : NOTHING);
}

/** Whether a record has something to judge or a known layout, regardless of the rest of its file. */
export function isRecognised(fields: Fields, audit: Audit): boolean {
  if (recognise(fields, audit) !== null || draftMisshapenConversation(fields) !== null) return true;
  if (fields.nestedNames().length === 0) return false;
  return draftUnknown(fields, audit) !== null || draftNoText(fields) !== null;
}

/** The items of a record with a known layout; null if it has no known name. */
export function recognise(fields: Fields, audit: Audit): Drafted | null {
  return (
    draftBatchRequest(fields, audit) ??
    draftShape(fields, audit) ??
    draftKnownColumn(fields) ??
    draftInstruction(fields)
  );
}

/** The items of a message, and of its other values. Null for a record that is none. */
function draftMessage(fields: Fields, audit: Audit, passed: NestedOptions['passed']): Drafted | null {
  const message = spokenIn(fields);
  if (!message.isDated) return null;
  const drafts = messageDrafts(message, '');
  const items = new NestedItems({ audit, before: drafts.length, lenient: false, passed });
  items.besideMessage(message);
  return { drafts: [...drafts, ...items.drafts()], judged: message.used };
}

function hasText(fields: Fields, column: string): boolean {
  return textOf(fields.get(column)) !== undefined;
}

/** The recognised items of a record, and the items in its other lists and objects. */
export function withNested(
  fields: Fields,
  main: Drafted,
  audit: Audit,
  passed: NestedOptions['passed'],
): Drafted {
  const lists = main.judged.map((name) => [name, listOf(name, fields.get(name))] as const);
  if (fields.nestedNames().length === 0 && lists.every(([, list]) => list === undefined)) return main;
  const items = new NestedItems({ audit, before: main.drafts.length, lenient: false, passed });
  for (const [name, list] of lists) if (list !== undefined) items.beside(name, list);
  const used = new Set(main.judged.map((name) => fields.positionOf(name)));
  for (const name of fields.nestedNames()) {
    if (!used.has(fields.positionOf(name))) items.member(name, fields.get(name));
  }
  const nested = items.drafts();
  return nested.length === 0 ? main : { drafts: [...main.drafts, ...nested], judged: main.judged };
}

/** The items of a record with lists or objects but without a known layout. Null if there are none. */
function draftUnknown(fields: Fields, audit: Audit, passed?: NestedOptions['passed']): Drafted | null {
  const judged: string[] = [];
  const items = new NestedItems({ audit, before: 0, lenient: false, passed });
  for (const name of fields.names()) {
    if (!ID_NAMES.includes(name.toLowerCase()) && items.member(name, fields.get(name))) judged.push(name);
  }
  const drafts = items.drafts();
  if (drafts.length > 0) return drafts.every(isIdAlone) ? null : { drafts, judged };
  const rest = new NestedItems({ audit, before: 0, lenient: true });
  for (const name of fields.nestedNames()) rest.member(name, fields.get(name));
  return rest.drafts().length === 0 ? null : { drafts: rest.drafts(), judged };
}

/** Whether the only text is an id under a name for text, which does not count as an item. */
function isIdAlone({ request }: Draft): boolean {
  return request?.requestType === 'prompt' && request.modality === 'text' && looksLikeId(request.text);
}

/** An error for a value other than turns under a name of conversations. A number, such as a message count, is ignored. */
function draftMisshapenConversation(fields: Fields): Drafted | null {
  const name = CONVERSATION_NAMES.find((candidate) => {
    const value = fields.get(candidate);
    return holdsText(value) ? candidate !== 'conversation' : typeof value === 'object' && value !== null;
  });
  if (name === undefined) return null;
  const error = itemError('INVALID_CONVERSATION', 'the conversation is not a list of turns');
  return { drafts: [settled('', 'multiturn', error)], judged: [name] };
}
