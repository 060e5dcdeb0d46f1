import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import { plural } from '../../../domain/text/plural.ts';
import { JsonFields } from '../../json/json-fields.ts';
import { isList, type Fields } from '../../record.ts';
import { imageDraft } from '../attachments.ts';
import { holdsText } from '../columns.ts';
import { conversationDrafts, spokenOnly, turnsOfSpoken } from '../turns/conversation.ts';
import { promptDraft, settled, type Draft } from '../draft.ts';
import { imageFrom, isImageUrl } from '../embedded-image.ts';
import { isKnownTurn, namesOfTurn } from '../turns/known-turn.ts';
import { messageContent } from '../content.ts';
import { draftShape, listOf, mayHaveShape } from './shapes.ts';
import { spokenIn, spokenList } from '../turns/speakers.ts';
import { takenFromCalls, takenFromParts, type Taken } from '../taken.ts';
import { textOfTurn } from '../turns/turns.ts';
import { hasWords, isIdName, isTextName, looksEncoded, looksLikeId } from '../wording.ts';

/** Levels of a record that are looked into. */
const MAX_LEVELS = 100;
/** Items of one record that are found in its nested values. */
export const MAX_ITEMS = 50_000;
/** Words from which on a string counts as text, whatever its name. */
const WORDS_OF_TEXT = 2;
/** The same beside the words of a turn, where it is most likely an annotation of them. */
const WORDS_OF_ANNOTATION = 4;
/** Characters that are searched, in all, for annotations that repeat what was said. */
const SEARCHED_CHARS = 8 * 1024 * 1024;

export interface NestedOptions {
  readonly audit: Audit;
  /** How many items of the record come before: where there is none, the first found here stands for the record. */
  readonly before: number;
  /** Whether single words count as text, ids and numbers excepted: for a record in which nothing else does. */
  readonly lenient: boolean;
  /** Told the names that lead to each string that is passed over. */
  readonly passed?: ((path: readonly string[]) => void) | undefined;
}

/** Of a turn whose words are judged, what else it holds being looked at. */
interface Said {
  readonly text: string;
  /** Words from which on a string beside them counts as text. */
  readonly words: number;
  readonly taken: Taken | null;
}

/**
 * Finds what is to be judged in the lists and objects of a record: lists in which people speak and the known shapes are
 * conversations and pairs, and every other string that reads as text is an item of its own, in the order of the record.
 * Strings that read as labels, ids or numbers are passed over. What is beyond the bounds is an item with an error.
 */
export class NestedItems {
  readonly #options: NestedOptions;
  readonly #drafts: Draft[] = [];
  readonly #path: string[] = [];
  /** Strings beside the words of turns, each of which is judged once. */
  readonly #beside = new Set<string>();
  readonly #textNames = new Map<string, boolean>();
  #searchable = SEARCHED_CHARS;
  #pieces = 0;
  #tooDeep = 0;
  #tooMany = 0;

  constructor(options: NestedOptions) {
    this.#options = options;
  }

  /** Looks into one member of the record. Gives whether there was anything to judge. */
  member(name: string, value: unknown): boolean {
    const before = this.#pieces;
    this.#member(name, value, 0, null);
    return this.#pieces > before;
  }

  /**
   * Looks at what a list of turns or of parts of a message holds beside its words, when these are judged already.
   * `name`: what the record has it under; null when it is the record.
   */
  beside(name: string | null, list: readonly unknown[]): void {
    if (name === null) this.#besideList('', list, 0);
    else this.#named(name, () => this.#besideList(name, list, 0));
  }

  /** Everything found. */
  drafts(): readonly Draft[] {
    if (this.#tooDeep > 0) {
      const what = `${this.#tooDeep} ${plural(this.#tooDeep, 'value')} nested more than ${MAX_LEVELS} levels deep ${plural(this.#tooDeep, 'is', 'are')} not judged`;
      this.#drafts.push(settled(this.#suffix(), null, itemError('MALFORMED_ROW', what)));
    }
    if (this.#tooMany > 0) {
      const what = `the record has more than ${MAX_ITEMS} texts; ${this.#tooMany} are not judged`;
      this.#drafts.push(settled(this.#suffix(), null, itemError('ITEM_TOO_LARGE', what)));
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
    else if (isList(value)) this.#list(name, value, level, said);
    else this.#object(value, level, said);
  }

  #list(name: string, list: readonly unknown[], level: number, said: Said | null): void {
    if (list.length > 0 && list.every(isKnownTurn)) {
      this.#conversation(list);
      this.#besideKnown(list, level);
      return;
    }
    const spoken = spokenList(list);
    if (spoken !== null) {
      this.#conversation(turnsOfSpoken(spoken));
      this.#besideSpoken(list, level);
      return;
    }
    // Short texts are told by their neighbours.
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
    else if (spokenOnly(list) === null) this.#besideKnown(list, level);
    else this.#besideSpoken(list, level);
  }

  /** The turns were read as those of a known layout. */
  #besideKnown(turns: readonly unknown[], level: number): void {
    for (const turn of turns) {
      if (typeof turn !== 'object' || turn === null) continue;
      const text = textOfTurn(turn);
      const [role, content] = namesOfTurn(turn);
      const parts = (turn as Readonly<Record<string, unknown>>)[content];
      if (isList(parts)) this.#named(content, () => this.#besideParts(content, parts, level + 1, text));
      if (isList(turn)) continue;
      const taken = takenFromCalls(turn);
      for (const [name, calls] of Object.entries(turn)) {
        if (name !== 'tool_calls' && name !== 'function_call') continue;
        this.#named(name, () =>
          this.#besideCalls(name, calls, level + 1, { text, words: WORDS_OF_TEXT, taken }),
        );
      }
      const used = new Set([role, content, 'tool_calls', 'function_call']);
      const said = { text, words: WORDS_OF_ANNOTATION, taken: null };
      this.#members(new JsonFields(turn, null), used, level + 1, said);
    }
  }

  #besideSpoken(turns: readonly unknown[], level: number): void {
    for (const turn of turns) {
      if (typeof turn !== 'object' || turn === null || isList(turn)) continue;
      const { fields, text, used } = spokenIn(turn);
      const spelt = new Set(used.map((name) => fields.names()[fields.positionOf(name) ?? -1] ?? ''));
      for (const name of used) {
        const parts = fields.get(name);
        if (isList(parts)) this.#named(name, () => this.#besideParts(name, parts, level + 1, text));
      }
      this.#members(fields, spelt, level + 1, { text, words: WORDS_OF_ANNOTATION, taken: null });
    }
  }

  /** The texts of the parts are judged, and what is attached has its items. */
  #besideParts(name: string, parts: readonly unknown[], level: number, text: string): void {
    const said = { text, words: WORDS_OF_TEXT, taken: takenFromParts(parts) };
    for (const part of parts) {
      if (typeof part === 'object' && part !== null) this.#inside(name, part, level + 1, said);
    }
  }

  #besideCalls(name: string, calls: unknown, level: number, said: Said): void {
    for (const call of isList(calls) ? calls : [calls]) {
      if (typeof call === 'string') this.#text(name, call, said, false);
      else if (typeof call === 'object' && call !== null) this.#inside(name, call, level + 1, said);
    }
  }

  #named(name: string, look: () => void): void {
    this.#path.push(name);
    look();
    this.#path.pop();
  }

  #conversation(turns: readonly unknown[]): void {
    if (turns.length === 0) return;
    this.#add(conversationDrafts(turns, { audit: this.#options.audit, suffix: '', position: 0 }));
  }

  #text(name: string, text: string, said: Said | null, isAmongTexts: boolean): void {
    if (!holdsText(text)) return;
    if (isImageUrl(text)) {
      this.#add([imageDraft('', imageFrom(text))]);
      return;
    }
    if (looksEncoded(text)) {
      const error = itemError('UNSUPPORTED_TYPE', 'encoded data in a record is not judged');
      this.#add([settled('', null, error)]);
      return;
    }
    const words = said?.words ?? WORDS_OF_TEXT;
    const isWanted =
      isAmongTexts || this.#isTextName(name) || hasWords(text, words) || this.#isLeft(name, text);
    if (!isWanted) {
      this.#options.passed?.(this.#path);
      return;
    }
    if (said !== null && this.#isKnown(text, said)) return;
    this.#add([promptDraft('', text)]);
  }

  /** Records repeat few names many times. */
  #isTextName(name: string): boolean {
    let known = this.#textNames.get(name);
    if (known === undefined) this.#textNames.set(name, (known = isTextName(name)));
    return known;
  }

  #isLeft(name: string, text: string): boolean {
    return this.#options.lenient && !isIdName(name) && !looksLikeId(text);
  }

  /** Whether a string beside the words of a turn repeats some of them, or was found before. */
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
    const first = this.#options.before + this.#drafts.length;
    for (const draft of drafts) this.#drafts.push(placed(draft, suffix, first));
  }

  #suffix(): string {
    const piece = ++this.#pieces;
    return piece === 1 && this.#options.before === 0 ? '' : `#nested${piece}`;
  }
}

function isText(text: string): boolean {
  return hasWords(text, WORDS_OF_TEXT);
}

/** The draft of a piece, as one of its record: with the piece's suffix, behind the items before it. */
export function placed(draft: Draft, suffix: string, first: number): Draft {
  const own = suffix + draft.suffix;
  if (draft.error !== null) return { ...draft, suffix: own };
  const { request } = draft;
  if (request.requestType !== 'multiturn' || request.conversation === null) return { ...draft, suffix: own };
  return { ...draft, suffix: own, request: { ...request, conversation: first + request.conversation } };
}
