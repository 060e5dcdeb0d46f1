import type { Audit } from '../../config/run-config.ts';
import { errorWithReason, itemError } from '../../domain/item-error.ts';
import { isFields, type Fields, type ReadRecord, type RecordContent } from '../record.ts';
import {
  draftNoText,
  findKnownColumn,
  hasUnknownText,
  holdsText,
  ID_NAMES,
  VALUE_NOT_TEXT,
} from './columns.ts';
import { draftChatMessage, draftTurnsOrUtterances } from './turns/conversation.ts';
import { readUtterance } from './turns/utterances.ts';
import {
  isBlank,
  createPromptDraft,
  createFailedDraft,
  rejectEncoded,
  type Draft,
  type RecordDrafts,
} from './draft.ts';
import { draftBatchRequest } from './layouts/openai-batch.ts';
import { draftInstruction } from './layouts/pairs.ts';
import { CONVERSATION_NAMES, draftShape, readList } from './layouts/shapes.ts';
import { NestedItems, type NestedOptions } from './nested-items.ts';
import { parseElements, readElements, toText } from './values.ts';
import { isIdName, looksLikeId } from './wording.ts';

/** How to read the records of one file. */
export interface RecordOptions {
  /** Columns the user named; null to recognise records by their names. */
  readonly textColumns: readonly string[] | null;
  /** Columns for records without a known name (`chooseTextColumns`). */
  readonly foundColumns: readonly string[];
  /** Columns of a table, in lower case, whose cells are lists as JSON. */
  readonly listColumns: readonly string[];
  readonly audit: Audit;
  /** Whether the records are the messages of a chat. */
  readonly isChat: boolean;
  /** Whether no column of the file is recognised as its text, so none of its records is judged. */
  readonly isWithoutText: boolean;
}

const NOTHING: RecordDrafts = {
  drafts: [createFailedDraft('', null, itemError('MISSING_PAYLOAD', 'the record has no text to judge'))],
  judged: [],
};

const UNKNOWN_TEXT: RecordDrafts = {
  drafts: [
    createFailedDraft(
      '',
      null,
      errorWithReason('no_text_column', 'no column of the record is recognised as its text'),
    ),
  ],
  judged: [],
};

const FILE_WITHOUT_TEXT: RecordDrafts = {
  drafts: [
    createFailedDraft(
      '',
      null,
      errorWithReason('no_text_column', 'no column of the file is recognised as its text'),
    ),
  ],
  judged: [],
};

type Reading = Pick<RecordOptions, 'audit' | 'listColumns'>;

type OnSkipped = NestedOptions['onSkipped'];

/**
 * Makes the items of a record: first those of a known layout, then those in its other lists and objects. Returns at least one
 * draft, except for messages of a chat and for the object around the records. Calls `onSkipped` with the path of each string
 * in lists and objects that is not judged.
 */
export function draftRecord(record: ReadRecord, options: RecordOptions, onSkipped?: OnSkipped): RecordDrafts {
  const { content, isWrapper } = record;
  const { drafts, judged } =
    isWrapper === true && isFields(content)
      ? draftWrapper(content, options, onSkipped)
      : draftContent(content, options, onSkipped);
  return { drafts: drafts.map(rejectEncoded), judged };
}

function draftContent(content: RecordContent, options: RecordOptions, onSkipped: OnSkipped): RecordDrafts {
  if (options.isWithoutText) return FILE_WITHOUT_TEXT;
  if (typeof content === 'string') return { drafts: [createPromptDraft('', content)], judged: [] };
  const { audit, textColumns, foundColumns, isChat } = options;
  if (!isFields(content)) {
    const drafts = draftTurnsOrUtterances(content, { audit, suffix: '', position: 0 });
    const items = new NestedItems({ audit, before: drafts.length, onSkipped });
    items.addRestOfTurns(null, content);
    return { drafts: drafts.concat(items.drafts()), judged: [] };
  }
  if (textColumns !== null) return draftNamedColumns(content, textColumns, options, onSkipped);
  const message = isChat ? draftMessage(content, audit, onSkipped) : null;
  if (message !== null) return message;
  let main = recognise(content, options, onSkipped);
  if (main === null && foundColumns.some((name) => toText(content.get(name)) !== undefined)) {
    main = draftNamedColumns(content, foundColumns, options, onSkipped);
  }
  const found =
    main === null ? draftUnknown(content, audit, onSkipped) : addNested(content, main, audit, onSkipped);
  return (
    found ??
    draftMisshapenConversation(content) ??
    draftNoText(content) ??
    (hasUnknownText(content) ? UNKNOWN_TEXT : NOTHING)
  );
}

/**
 * Makes the items of the object around the records, which may contain other records. Returns no drafts if it has no
 * text.
 */
function draftWrapper(fields: Fields, options: RecordOptions, onSkipped: OnSkipped): RecordDrafts {
  const { audit, textColumns } = options;
  const main = textColumns === null ? recognise(fields, options, onSkipped) : null;
  if (main !== null) return addNested(fields, main, audit, onSkipped);
  const wanted = new Set(textColumns?.map((name) => name.toLowerCase()));
  const isText = textColumns === null ? undefined : (name: string) => wanted.has(name.toLowerCase());
  return draftMembers(fields, { audit, before: 0, isText, onSkipped });
}

/**
 * Joins the non-blank texts of the named columns by an empty line, and adds the elements of columns that contain lists
 * and the items in columns that contain objects. Returns at least one draft.
 */
function draftNamedColumns(
  fields: Fields,
  names: readonly string[],
  { audit, listColumns }: Reading,
  onSkipped: OnSkipped,
): RecordDrafts {
  const values = names.map((name) => {
    const cell = fields.get(name);
    const value = listColumns.includes(name.toLowerCase()) ? (parseElements(cell) ?? cell) : cell;
    const elements = readElements(value);
    return { name, value, elements, text: elements === null ? toText(value) : null };
  });
  const texts = values.map(({ text }) => text).filter((text) => typeof text === 'string');
  const nested = values.filter(({ text }) => text === null);
  const drafts: Draft[] = [];
  if (texts.length > 0) {
    drafts.push(createPromptDraft('', texts.filter((text) => !isBlank(text)).join('\n\n')));
  }
  if (nested.length > 0) {
    const items = new NestedItems({ audit, before: drafts.length, isText: isNotId, onSkipped });
    for (const { name, value, elements } of nested) {
      if (elements === null) items.addMember(name, value);
      else items.addElements(name, elements);
    }
    for (const draft of items.drafts()) drafts.push(draft);
    if (drafts.length === 0) drafts.push(createFailedDraft('', 'prompt', VALUE_NOT_TEXT));
  }
  if (drafts.length === 0) {
    const error = itemError('MISSING_PAYLOAD', 'the record has none of the columns to judge');
    drafts.push(createFailedDraft('', 'prompt', error));
  }
  return { drafts, judged: names };
}

/** Whether a record has something to judge or a known layout, regardless of the rest of its file. */
export function isRecognised(fields: Fields, audit: Audit): boolean {
  if (recognise(fields, { audit, listColumns: [] }) !== null || draftMisshapenConversation(fields) !== null)
    return true;
  if (fields.nestedNames().length === 0) return false;
  return draftUnknown(fields, audit) !== null || draftNoText(fields) !== null;
}

/** Makes the items of a record with a known layout; null for any other record. */
function recognise(fields: Fields, reading: Reading, onSkipped?: OnSkipped): RecordDrafts | null {
  const shape = draftBatchRequest(fields, reading.audit) ?? draftShape(fields, reading.audit);
  if (shape !== null) return shape;
  const known = findKnownColumn(fields);
  return known === null ? draftInstruction(fields) : draftNamedColumns(fields, [known], reading, onSkipped);
}

/** Makes the items of a dated message and of its other values; null for any other record. */
function draftMessage(fields: Fields, audit: Audit, onSkipped: OnSkipped): RecordDrafts | null {
  const message = readUtterance(fields);
  if (!message.isDated) return null;
  const drafts = draftChatMessage(message, '');
  const items = new NestedItems({ audit, before: drafts.length, onSkipped });
  items.addRestOfMessage(message);
  return { drafts: [...drafts, ...items.drafts()], judged: message.used };
}

/** Adds the items in a record's other lists and objects to those of its known layout. */
function addNested(fields: Fields, main: RecordDrafts, audit: Audit, onSkipped: OnSkipped): RecordDrafts {
  const lists = main.judged.map((name) => [name, readList(name, fields.get(name))] as const);
  if (fields.nestedNames().length === 0 && lists.every(([, list]) => list === undefined)) return main;
  const items = new NestedItems({ audit, before: main.drafts.length, onSkipped });
  for (const [name, list] of lists) if (list !== undefined) items.addRestOfTurns(name, list);
  const used = new Set(main.judged.map((name) => fields.positionOf(name)));
  for (const name of fields.nestedNames()) {
    if (!used.has(fields.positionOf(name))) items.addMember(name, fields.get(name));
  }
  return { drafts: [...main.drafts, ...items.drafts()], judged: main.judged };
}

/** Finds the items of a record with lists or objects but without a known layout; null if there are no items. */
function draftUnknown(fields: Fields, audit: Audit, onSkipped?: OnSkipped): RecordDrafts | null {
  if (fields.nestedNames().length === 0) return null;
  const found = draftMembers(fields, { audit, before: 0, onSkipped });
  if (found.drafts.length > 0) return found;
  const items = new NestedItems({ audit, before: 0, isText: isNotId });
  for (const name of fields.nestedNames()) items.addMember(name, fields.get(name));
  return items.drafts().length === 0 ? null : { drafts: items.drafts(), judged: [] };
}

/** Finds the items in all members of an object except its ids. */
function draftMembers(fields: Fields, options: NestedOptions): RecordDrafts {
  const items = new NestedItems(options);
  const names = fields.names().filter((name) => !ID_NAMES.includes(name.toLowerCase()));
  const judged = names.filter((name) => items.addMember(name, fields.get(name)));
  return { drafts: items.drafts(), judged };
}

/** Single words are judged too if the record has no other text. */
function isNotId(name: string, text: string): boolean {
  return !isIdName(name) && !looksLikeId(text);
}

/** Fails a record that has something other than turns under a name of conversations. Ignores numbers, such as counts. */
function draftMisshapenConversation(fields: Fields): RecordDrafts | null {
  const name = CONVERSATION_NAMES.find((candidate) => {
    const value = fields.get(candidate);
    return holdsText(value) ? candidate !== 'conversation' : typeof value === 'object' && value !== null;
  });
  if (name === undefined) return null;
  const error = itemError('INVALID_CONVERSATION', 'the conversation is not a list of turns');
  return { drafts: [createFailedDraft('', 'multiturn', error)], judged: [name] };
}
