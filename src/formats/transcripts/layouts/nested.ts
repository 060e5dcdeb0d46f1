import type { Audit } from '../../../config/run-config.ts';
import { itemError, type ItemError } from '../../../domain/item-error.ts';
import { plural } from '../../../domain/text/plural.ts';
import { JsonFields } from '../../json/json-fields.ts';
import { isReadonlyArray, type Fields } from '../../record.ts';
import { imageDraft, imageFrom, isImageUrl } from '../attachments.ts';
import { holdsText } from '../columns.ts';
import { conversationDrafts, spokenDrafts, spokenOnly } from '../turns/conversation.ts';
import { type Draft, ENCODED, inPart, PartCounter, promptDraft, settled } from '../draft.ts';
import { isKnownTurn, namesOfTurn } from '../turns/roles.ts';
import { messageContent } from '../content.ts';
import { draftShape, listOf, mayHaveShape } from './shapes.ts';
import { spokenList, type Spoken } from '../turns/speakers.ts';
import { takenFromCalls, takenFromParts, type Taken } from '../taken.ts';
import { textOfTurn } from '../turns/turns.ts';
import { hasWords, isIdName, isTextName, looksEncoded, looksLikeId } from '../wording.ts';

/** Maximum nesting depth that is searched. */
const MAX_LEVELS = 100;
/** Maximum number of items from the nested values of one record. */
export const MAX_ITEMS = 50_000;
/** Words that make a string count as text under any name. */
const MIN_TEXT_WORDS = 2;
/** The same for a string next to the text of a turn, where it is most likely an annotation. */
const MIN_ANNOTATION_WORDS = 4;
/** Total characters searched for annotations that repeat the text of their turn. */
const MAX_SEARCHED_CHARS = 8 * 1024 * 1024;

export interface NestedOptions {
  readonly audit: Audit;
  /** Number of items of the record before these. If 0, the first item found here has the record's own id. */
  readonly before: number;
  /** Whether single words count as text, except ids and numbers. Used for records with no other text. */
  readonly lenient: boolean;
  /** Called with the path of names to each skipped string. */
  readonly passed?: ((path: readonly string[]) => void) | undefined;
}

/** A turn whose text is judged, while its other values are searched. */
interface Said {
  readonly text: string;
  /** Words that make another string of the turn count as text. */
  readonly words: number;
  readonly taken: Taken | null;
}

/**
 * Finds the items in the lists and objects of a record, in order. Lists of turns with speakers, and objects of known
 * shapes, become conversations and pairs. Every other string that reads as text is an item of its own. Strings that read
 * as labels, ids or numbers are skipped. Values over the limits become an item with an error.
 */
export class NestedItems {
  readonly #options: NestedOptions;
  readonly #drafts: Draft[] = [];
  readonly #path: string[] = [];
  readonly #parts = new PartCounter();
  /** Strings found next to the text of turns. Each is judged once. */
  readonly #beside = new Set<string>();
  readonly #textNames = new Map<string, boolean>();
  #searchable = MAX_SEARCHED_CHARS;
  #pieces = 0;
  #tooDeep = 0;
  #tooMany = 0;

  constructor(options: NestedOptions) {
    this.#options = options;
  }

  /** Searches one member of the record. Returns whether it had anything to judge. */
  member(name: string, value: unknown): boolean {
    const before = this.#pieces;
    this.#member(name, value, 0, null);
    return this.#pieces > before;
  }

  /**
   * Searches the other values in a list of turns or message parts whose text is already judged. `name`: the list's name in
   * the record; null if the list is the record.
   */
  beside(name: string | null, list: readonly unknown[]): void {
    if (name === null) this.#besideList('', list, 0);
    else this.#named(name, () => this.#besideList(name, list, 0));
  }

  /** Searches the other values of a message that is the record. Who wrote it is judged with no message. */
  besideMessage(message: Spoken): void {
    const used = message.speakerName === null ? message.used : [...message.used, message.speakerName];
    this.#besideSpoken([{ ...message, used }], 0);
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

  #member(name: string, value: unknown, level: number, said: Said | null): void {
    this.#path.push(name);
    if (typeof value === 'string') this.#text(name, value, said, false);
    else if (typeof value === 'object' && value !== null) this.#inside(name, value, level + 1, said);
    this.#path.pop();
  }

  #inside(name: string, value: object, level: number, said: Said | null): void {
    if (level > MAX_LEVELS) this.#tooDeep++;
    else if (isReadonlyArray(value)) this.#list(name, value, level, said);
    else this.#object(value, level, said);
  }

  #list(name: string, list: readonly unknown[], level: number, said: Said | null): void {
    if (list.length > 0 && list.every(isKnownTurn)) {
      this.#add(conversationDrafts(list, this.#conversation));
      this.#besideKnown(list, level);
      return;
    }
    const spoken = spokenList(list);
    if (spoken !== null) {
      const drafts = spokenDrafts(spoken, this.#conversation);
      if (drafts.length > 0) this.#add(drafts);
      this.#besideSpoken(spoken, level);
      return;
    }
    // One string that reads as text makes all strings of the list texts.
    const texts = said === null && list.some((text) => typeof text === 'string' && isText(text));
    for (const element of list) {
      if (typeof element === 'string') this.#text(name, element, said, texts);
      else if (typeof element === 'object' && element !== null) this.#inside(name, element, level + 1, said);
    }
  }

  #object(value: object, level: number, said: Said | null): void {
    const fields = new JsonFields(value, null);
    if (!mayHaveShape(fields.names())) {
      this.#members(fields, new Set(said?.taken?.get(value)), level, said);
      return;
    }
    const shape = draftShape(fields, this.#options.audit);
    const used = new Set(said?.taken?.get(value));
    if (shape?.drafts.every(({ error }) => error === null) === true) {
      this.#add(shape.drafts);
      for (const name of shape.judged) {
        const position = fields.positionOf(name);
        if (position === undefined) continue;
        used.add(fields.names()[position]!);
        const list = listOf(name, fields.get(name));
        if (list !== undefined) this.#named(name, () => this.#besideList(name, list, level));
      }
    }
    this.#members(fields, used, level, said);
  }

  #members(fields: Fields, used: ReadonlySet<string>, level: number, said: Said | null): void {
    for (const name of fields.names()) if (!used.has(name)) this.#member(name, fields.get(name), level, said);
  }

  #besideList(name: string, list: readonly unknown[], level: number): void {
    const content = list.length === 0 ? null : messageContent(list);
    if (content !== null) this.#besideParts(name, list, level, content.text);
    else {
      const spoken = spokenOnly(list);
      if (spoken === null) this.#besideKnown(list, level);
      else this.#besideSpoken(spoken, level);
    }
  }

  /** For turns that were read in a known layout. */
  #besideKnown(turns: readonly unknown[], level: number): void {
    for (const turn of turns) {
      if (typeof turn !== 'object' || turn === null) continue;
      const text = textOfTurn(turn);
      const [role, content] = namesOfTurn(turn);
      const parts = (turn as Readonly<Record<string, unknown>>)[content];
      if (isReadonlyArray(parts))
        this.#named(content, () => this.#besideParts(content, parts, level + 1, text));
      if (isReadonlyArray(turn)) continue;
      const taken = takenFromCalls(turn);
      for (const [name, calls] of Object.entries(turn)) {
        if (name !== 'tool_calls' && name !== 'function_call') continue;
        this.#named(name, () =>
          this.#besideCalls(name, calls, level + 1, { text, words: MIN_TEXT_WORDS, taken }),
        );
      }
      const used = new Set([role, content, 'tool_calls', 'function_call']);
      const said = { text, words: MIN_ANNOTATION_WORDS, taken: null };
      this.#members(new JsonFields(turn, null), used, level + 1, said);
    }
  }

  #besideSpoken(turns: readonly Spoken[], level: number): void {
    for (const { fields, text, used } of turns) {
      const spelled = new Set(used.map((name) => fields.names()[fields.positionOf(name) ?? -1] ?? ''));
      for (const name of used) {
        const parts = fields.get(name);
        if (isReadonlyArray(parts)) this.#named(name, () => this.#besideParts(name, parts, level + 1, text));
      }
      this.#members(fields, spelled, level + 1, { text, words: MIN_ANNOTATION_WORDS, taken: null });
    }
  }

  /** For message parts whose texts and attachments are already items. */
  #besideParts(name: string, parts: readonly unknown[], level: number, text: string): void {
    const said = { text, words: MIN_TEXT_WORDS, taken: takenFromParts(parts) };
    for (const part of parts) {
      if (typeof part === 'object' && part !== null) this.#inside(name, part, level + 1, said);
    }
  }

  #besideCalls(name: string, calls: unknown, level: number, said: Said): void {
    for (const call of isReadonlyArray(calls) ? calls : [calls]) {
      if (typeof call === 'string') this.#text(name, call, said, false);
      else if (typeof call === 'object' && call !== null) this.#inside(name, call, level + 1, said);
    }
  }

  #named(name: string, look: () => void): void {
    this.#path.push(name);
    look();
    this.#path.pop();
  }

  get #conversation() {
    return { audit: this.#options.audit, suffix: '', position: 0 } as const;
  }

  #text(name: string, text: string, said: Said | null, isAmongTexts: boolean): void {
    if (!holdsText(text)) return;
    if (isImageUrl(text)) {
      this.#add([imageDraft('', imageFrom(text))]);
      return;
    }
    if (looksEncoded(text)) {
      this.#add([settled('', null, ENCODED)]);
      return;
    }
    const words = said?.words ?? MIN_TEXT_WORDS;
    const isJudged =
      isAmongTexts || this.#isTextName(name) || hasWords(text, words) || this.#isLenientText(name, text);
    if (!isJudged) {
      this.#options.passed?.(this.#path);
      return;
    }
    if (said !== null && this.#isKnown(text, said)) return;
    this.#add([promptDraft('', text)]);
  }

  /** Cached, because records repeat few names many times. */
  #isTextName(name: string): boolean {
    let known = this.#textNames.get(name);
    if (known === undefined) this.#textNames.set(name, (known = isTextName(name)));
    return known;
  }

  #isLenientText(name: string, text: string): boolean {
    return this.#options.lenient && !isIdName(name) && !looksLikeId(text);
  }

  /** Whether a string of a turn repeats part of the turn's text, or was found before. */
  #isKnown(text: string, said: Said): boolean {
    if (this.#beside.has(text)) return true;
    this.#beside.add(text);
    this.#searchable -= said.text.length + text.length;
    return this.#searchable >= 0 && said.text.includes(text);
  }

  /** Adds the items of one piece of the record. */
  #add(drafts: readonly Draft[]): void {
    if (this.#drafts.length + drafts.length > MAX_ITEMS) {
      this.#tooMany += drafts.length;
      return;
    }
    const suffix = this.#suffix();
    const part = this.#parts.next(this.#path[0]);
    const first = this.#options.before + this.#drafts.length;
    for (const draft of drafts) this.#drafts.push(placed(draft, { suffix, part, first }));
  }

  #addLimit(error: ItemError): void {
    this.#drafts.push(inPart(this.#parts.next(undefined), settled(this.#suffix(), null, error)));
  }

  #suffix(): string {
    const piece = ++this.#pieces;
    return piece === 1 && this.#options.before === 0 ? '' : `#nested${piece}`;
  }
}

function isText(text: string): boolean {
  return hasWords(text, MIN_TEXT_WORDS);
}

/** Where a piece is in its record; `first` is the number of items before it. */
interface PieceOfRecord {
  readonly suffix: string;
  readonly part: string | null;
  readonly first: number;
}

/** Makes the draft of a piece a draft of its record. */
export function placed(draft: Draft, { suffix, part, first }: PieceOfRecord): Draft {
  const named = part === null ? draft : inPart(part, draft);
  const own = { ...named, suffix: suffix + draft.suffix };
  if (own.error !== null) return own;
  const { request } = own;
  if (request.requestType !== 'multiturn' || request.conversation === null) return own;
  return { ...own, request: { ...request, conversation: first + request.conversation } };
}
