import type { Audit } from '../../config/run-config.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { plural } from '../../domain/text/plural.ts';
import { JsonFields } from '../json/json-fields.ts';
import { isReadonlyArray, type Fields } from '../record.ts';
import { createImageDraft, decodeImage, findImage, isImageUrl } from './attachments.ts';
import { holdsText } from './columns.ts';
import { ATTACHMENT_PARTS, ATTACHMENT_SETTINGS, isKnownType, readContent } from './content.ts';
import {
  type Draft,
  ENCODED,
  nestInPart,
  PartCounter,
  createPromptDraft,
  createFailedDraft,
} from './draft.ts';
import { draftShape, readList, mayHaveShape } from './layouts/shapes.ts';
import { draftTurns, draftUtterances } from './turns/conversation.ts';
import { isKnownTurn, isTurnLike, turnFieldNames } from './turns/roles.ts';
import { readUtterance, readUtterances, type Utterance } from './turns/utterances.ts';
import { readTurnText } from './turns/turns.ts';
import { toText } from './values.ts';
import { hasWords, isIdName, isTextName, looksEncoded, looksLikeId } from './wording.ts';

/** Maximum nesting depth that is searched. */
const MAX_LEVELS = 100;
/** Maximum number of items from the nested values of one record. */
const MAX_ITEMS = 50_000;
/** Minimum words of a string that is judged under any name. Next to the text of a turn, most strings are labels. */
const MIN_TEXT_WORDS = 2;
const MIN_ANNOTATION_WORDS = 5;
/** Maximum characters of turns to search for strings that repeat part of them. */
const MAX_SEARCHED_CHARS = 8 * 1024 * 1024;

const CALLS: ReadonlySet<string> = new Set(['tool_calls', 'function_call']);

export interface NestedOptions {
  readonly audit: Audit;
  /** Number of items of the record before these. If 0, the first item found here has the record's own id. */
  readonly before: number;
  /** Whether a string is judged; by default, its name and its words decide. */
  readonly isText?: ((name: string, text: string) => boolean) | undefined;
  /** Called with the path of names to each string that is not judged. */
  readonly onSkipped?: ((path: readonly string[]) => void) | undefined;
}

/** Where a string was found. */
interface Context {
  /** Minimum words to judge it under any name. */
  readonly minWords: number;
  /** Text of its turn, which has already been judged. */
  readonly turnText: string;
  /**
   * Image of the attachment to which the string belongs, or empty for other attachments, whose data already has an
   * item.
   */
  readonly attachment: string | null;
}

const OUTSIDE_TURNS: Context = { minWords: MIN_TEXT_WORDS, turnText: '', attachment: null };

/**
 * Finds the items in the lists and objects of a record, in order. Lists of turns and objects with a known layout become
 * conversations and pairs. Any other string becomes an item if it has a name for text or several words; the rest is skipped.
 * Values over the limits become an item with an error.
 */
export class NestedItems {
  readonly #options: NestedOptions;
  readonly #drafts: Draft[] = [];
  readonly #path: string[] = [];
  readonly #parts = new PartCounter();
  /** Cached, because records repeat a few names many times. */
  readonly #textNames = new Map<string, boolean>();
  #searchable = MAX_SEARCHED_CHARS;
  #pieces = 0;
  #tooDeep = 0;
  #tooMany = 0;

  constructor(options: NestedOptions) {
    this.#options = options;
  }

  /** Searches one member of the record. Returns whether it had anything to judge. */
  addMember(name: string, value: unknown): boolean {
    const before = this.#pieces;
    this.#member(name, value, 0, OUTSIDE_TURNS);
    return this.#pieces > before;
  }

  /** Makes an item of each element of a list of texts, so the number of its part is that of the element. */
  addElements(name: string, elements: readonly unknown[]): void {
    this.#path.push(name);
    for (const element of elements) {
      const text = toText(element) ?? '';
      this.#add([isImageUrl(text) ? createImageDraft('', decodeImage(text)) : createPromptDraft('', text)]);
    }
    this.#path.pop();
  }

  /**
   * Searches the rest of turns or message parts whose text has already been judged. `name` is null if the list is the
   * record.
   */
  addRestOfTurns(name: string | null, list: readonly unknown[]): void {
    if (name !== null) this.#path.push(name);
    this.#restOfTurns(name ?? '', list, 0);
    if (name !== null) this.#path.pop();
  }

  /** Searches the rest of a chat message that is a record. Its author is not judged. */
  addRestOfMessage({ fields, used, speakerName, text }: Utterance): void {
    this.#restOfTurn(fields, speakerName === null ? used : [...used, speakerName], text, 1);
  }

  /** The items found, and an error for values over each limit. */
  drafts(): readonly Draft[] {
    if (this.#tooDeep > 0) {
      const what = `${this.#tooDeep} ${plural(this.#tooDeep, 'value')} nested more than ${MAX_LEVELS} levels deep ${plural(this.#tooDeep, 'is', 'are')} not judged`;
      this.#addLimit(itemError('MALFORMED_ROW', what));
    }
    if (this.#tooMany > 0) {
      const what = `the record has more than ${MAX_ITEMS} texts; ${this.#tooMany} are not judged`;
      this.#addLimit(itemError('ITEM_TOO_LARGE', what));
    }
    return this.#drafts;
  }

  #member(name: string, value: unknown, level: number, context: Context): void {
    this.#path.push(name);
    this.#value(name, value, level, context);
    this.#path.pop();
  }

  #members(fields: Fields, used: ReadonlySet<string>, level: number, context: Context): void {
    for (const name of fields.names()) {
      if (!used.has(name)) this.#member(name, fields.get(name), level, context);
    }
  }

  /** `name` is the name of the value or of the list that contains it. */
  #value(name: string, value: unknown, level: number, context: Context): void {
    if (typeof value === 'string') this.#text(name, value, context);
    else if (typeof value !== 'object' || value === null) return;
    else if (level >= MAX_LEVELS) this.#tooDeep++;
    else if (isReadonlyArray(value)) this.#list(name, value, level + 1, context);
    else this.#object(value, level + 1, context);
  }

  #list(name: string, list: readonly unknown[], level: number, context: Context): void {
    const { audit } = this.#options;
    const conversation = { audit, suffix: '', position: 0 };
    const isOfTurns = list.length > 0 && list.every(isKnownTurn);
    const spoken = isOfTurns ? null : readUtterances(list);
    if (isOfTurns || spoken !== null) {
      this.#add(spoken === null ? draftTurns(list, conversation) : draftUtterances(spoken, conversation));
      this.#restOfTurns(name, list, level);
      return;
    }
    for (const element of list) this.#value(name, element, level, context);
  }

  #object(value: object, level: number, context: Context): void {
    const fields = new JsonFields(value, null);
    const names = fields.names();
    const shape = mayHaveShape(names) ? draftShape(fields, this.#options.audit) : null;
    const used = new Set<string>();
    if (shape?.drafts.every(({ error }) => error === null) === true) {
      this.#add(shape.drafts);
      for (const name of spelledNames(fields, shape.judged)) {
        used.add(name);
        const list = readList(name, fields.get(name));
        if (list !== undefined) this.addRestOfTurns(name, list);
      }
    }
    if (context !== OUTSIDE_TURNS && isKnownType(fields.get('type'))) used.add('type');
    this.#members(fields, used, level, attachmentContext(value, context));
  }

  /** Searches the rest of turns or message parts. */
  #restOfTurns(name: string, list: readonly unknown[], level: number): void {
    const parts = list.length === 0 ? null : readContent(list);
    for (const turn of list) {
      if (typeof turn !== 'object' || turn === null) continue;
      if (parts !== null) this.#value(name, turn, level, contextInTurn(parts.text, MIN_TEXT_WORDS));
      else if (isReadonlyArray(turn)) {
        if (isReadonlyArray(turn[1])) this.addRestOfTurns('content', turn[1]);
      } else {
        const fields = new JsonFields(turn, null);
        if (isTurnLike(turn)) this.#restOfTurn(fields, turnFieldNames(turn), readTurnText(turn), level + 1);
        else {
          const { used, text } = readUtterance(fields);
          this.#restOfTurn(fields, used, text, level + 1);
        }
      }
    }
  }

  /**
   * `used` contains the names of the author and the content. A list under such a name can contain more than the turn's
   * text.
   */
  #restOfTurn(fields: Fields, used: readonly string[], text: string, level: number): void {
    const judged = spelledNames(fields, used);
    for (const name of fields.names()) {
      const value = fields.get(name);
      if (name === 'type' || (judged.has(name) && !isReadonlyArray(value))) continue;
      const isOfMessage = judged.has(name) || CALLS.has(name);
      this.#member(
        name,
        value,
        level,
        contextInTurn(text, isOfMessage ? MIN_TEXT_WORDS : MIN_ANNOTATION_WORDS),
      );
    }
  }

  #text(name: string, text: string, context: Context): void {
    if (!holdsText(text)) return;
    const { attachment, minWords, turnText } = context;
    if (attachment !== null && (text === attachment || looksEncoded(text))) return;
    if (isImageUrl(text)) this.#add([createImageDraft('', decodeImage(text))]);
    else if (looksEncoded(text)) this.#add([createFailedDraft('', null, ENCODED)]);
    else if (!this.#isText(name, text, minWords)) {
      if (!isMessageLabel(name, text, context)) this.#options.onSkipped?.(this.#path);
    } else if (!this.#isRepeated(text, turnText)) this.#add([createPromptDraft('', text)]);
  }

  #isText(name: string, text: string, minWords: number): boolean {
    const { isText } = this.#options;
    if (isText !== undefined) return isText(name, text);
    let known = this.#textNames.get(name);
    if (known === undefined) this.#textNames.set(name, (known = isTextName(name)));
    return known || hasWords(text, minWords);
  }

  /** Whether a string repeats part of its turn. */
  #isRepeated(text: string, turnText: string): boolean {
    this.#searchable -= turnText.length + text.length;
    return this.#searchable >= 0 && turnText.includes(text);
  }

  /** Adds the items of one piece of the record. */
  #add(drafts: readonly Draft[]): void {
    if (drafts.length === 0) return;
    if (this.#drafts.length + drafts.length > MAX_ITEMS) {
      this.#tooMany += drafts.length;
      return;
    }
    const suffix = this.#nextSuffix();
    const part = this.#parts.next(this.#path[0]);
    const first = this.#options.before + this.#drafts.length;
    for (const draft of drafts) {
      this.#drafts.push(
        nestInPart(part, { ...offsetConversation(first, draft), suffix: suffix + draft.suffix }),
      );
    }
  }

  #addLimit(error: ItemError): void {
    this.#drafts.push(
      nestInPart(this.#parts.next(undefined), createFailedDraft(this.#nextSuffix(), null, error)),
    );
  }

  #nextSuffix(): string {
    const piece = ++this.#pieces;
    return piece === 1 && this.#options.before === 0 ? '' : `#nested${piece}`;
  }
}

/** Makes a conversation's index count from the record's first item. `first` is the number of items before these. */
function offsetConversation(first: number, draft: Draft): Draft {
  if (draft.error !== null || draft.request.requestType !== 'multiturn') return draft;
  const { conversation } = draft.request;
  if (conversation === null) return draft;
  return { ...draft, request: { ...draft.request, conversation: first + conversation } };
}

function contextInTurn(turnText: string, minWords: number): Context {
  return { minWords, turnText, attachment: null };
}

/** The context for the members of an object, which may be an attachment in a message. */
function attachmentContext(value: object, context: Context): Context {
  if (context === OUTSIDE_TURNS || context.attachment !== null) return context;
  const { type } = value as { readonly type?: unknown };
  const kind = ATTACHMENT_PARTS.get(type);
  if (kind === undefined) return context;
  return { ...context, attachment: (kind === 'image' ? findImage(value)?.text : null) ?? '' };
}

/**
 * Whether a string that is not text is an id or a setting of a message, as in OpenAI's layout, and therefore need not
 * be reported as skipped.
 */
function isMessageLabel(name: string, text: string, context: Context): boolean {
  if (context === OUTSIDE_TURNS) return false;
  const isSetting = context.attachment !== null && ATTACHMENT_SETTINGS.has(name);
  return isSetting || (isIdName(name) && looksLikeId(text));
}

/** The names in the record's own spelling. */
function spelledNames(fields: Fields, names: readonly string[]): ReadonlySet<string> {
  const positions = names.map((name) => fields.positionOf(name)).filter((position) => position !== undefined);
  return new Set(positions.map((position) => fields.names()[position]!));
}
