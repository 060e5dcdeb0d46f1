import { isEncodedText } from '../encoding/encoded-text.ts';
import type { Fields } from '../record.ts';
import { columnKey, holdsText, mayBeText } from './columns.ts';
import { isIdName, isReference, isTextName, looksLikeId } from './wording.ts';

/** Only the beginning of a value is examined. */
const EXAMINED_CHARS = 1024;
/** Distinct values of a column that are counted, by their beginnings. */
const MAX_DISTINCT = 1000;
const MAX_DISTINCT_CHARS = 200;

/** A column is text if at least this share of its values reads as text: chats are full of single words. */
const MIN_TEXT_SHARE = 0.2;
/** From so many values on, a column of short values that repeat is one of labels. */
const MIN_LABELLED = 10;
const MAX_LABEL_SHARE = 0.3;
const MAX_LABEL_CHARS = 60;
/** From so many values on, a column of short values with digits in most of them is one of addresses or products. */
const MIN_ADDRESSES = 5;
const ADDRESS_SHARE = 0.8;
const MAX_ADDRESS_CHARS = 100;

/**
 * The columns of a table that are text by what they hold, in any language, found from its first records: columns in which
 * sentences or several words occur often that are no names, addresses, dates or labels. If there are none, the only column
 * whose values may be text at all, or the only one in which a sentence occurs. A column whose name an earlier one has is left out.
 *
 * Deterministic: depends only on the sample, so that a run that is resumed takes the same columns.
 */
export function textColumnsOf(sample: readonly Fields[], idColumn: string | null): readonly string[] {
  const columns = new Map<string, ColumnProfile>();
  for (const fields of sample) {
    for (const [position, name] of fields.names().entries()) {
      const value = fields.at(position);
      if (typeof value !== 'string' || columnKey(fields, position) !== name) continue;
      let column = columns.get(name);
      if (column === undefined) columns.set(name, (column = new ColumnProfile(name)));
      column.add(value, mayBeText(name, value, idColumn));
    }
  }
  const all = [...columns.values()];
  const texts = all.filter(({ isText }) => isText);
  if (texts.length > 0) return texts.map(({ name }) => name);
  const possible = all.filter(({ mayBeText: may }) => may);
  const likely = possible.filter(({ hasText, isOfLabels }) => hasText && !isOfLabels);
  const [only, ...others] = possible.length === 1 ? possible : likely;
  return only === undefined || others.length > 0 ? [] : [only.name];
}

/** What the values of a column have in common. */
class ColumnProfile {
  readonly name: string;
  readonly #isTextName: boolean;
  readonly #distinct = new Set<string>();
  /** Values that are not blank. */
  #values = 0;
  #texts = 0;
  #possible = 0;
  #withDigits = 0;
  #sentences = 0;
  #chars = 0;

  constructor(name: string) {
    this.name = name;
    this.#isTextName = isTextName(name);
  }

  add(value: string, mayBe: boolean): void {
    const text = value.slice(0, EXAMINED_CHARS).trim();
    if (text === '' || MISSING.test(text)) return;
    this.#values++;
    this.#chars += text.length;
    if (this.#distinct.size < MAX_DISTINCT) this.#distinct.add(text.slice(0, MAX_DISTINCT_CHARS));
    if (/\d/.test(text)) this.#withDigits++;
    if (endsSentence(text)) this.#sentences++;
    if (!mayBe || isData(text)) return;
    this.#possible++;
    if (!isListed(text) && (isProse(text) || (this.#isTextName && wordsOf(text).length > 1))) this.#texts++;
  }

  /** Whether any value may be text. */
  get mayBeText(): boolean {
    return this.#possible > 0;
  }

  get hasText(): boolean {
    return this.#texts > 0;
  }

  get isText(): boolean {
    const isShareOf = this.hasText && this.#texts >= MIN_TEXT_SHARE * this.#values;
    return isShareOf && !this.isOfLabels && !this.#isOfAddresses;
  }

  get isOfLabels(): boolean {
    return (
      this.#values >= MIN_LABELLED &&
      this.#distinct.size <= MAX_LABEL_SHARE * this.#values &&
      this.#distinct.size < MAX_DISTINCT &&
      this.#chars < MAX_LABEL_CHARS * this.#values
    );
  }

  get #isOfAddresses(): boolean {
    return (
      this.#values >= MIN_ADDRESSES &&
      this.#withDigits >= ADDRESS_SHARE * this.#values &&
      this.#sentences * 10 < this.#values &&
      this.#chars < MAX_ADDRESS_CHARS * this.#values
    );
  }
}

/** What programs write for a missing value. */
const MISSING = /^(?:n\/?a|nan|null|nil|none|-+|\?)$/i;

const NUMBER = /^[\d\s.,:;/+()%\p{Sc}-]*$/u;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
/** A path, or what a browser calls itself. */
const PATH = /^(?:[A-Za-z]:\\|\\\\|\/[\w.-]+\/|~\/|Mozilla\/\d)/;
/** A list or an object as text. */
const STRUCTURE = /^(?:\[[^]*\]|\{[^]*\})$/;
const SENTENCE_END =
  /[.!?\u2026\u3002\uff01\uff1f\u061f\u0964\u0965\u104b\u1362\u17d4]["'\u201d\u2019\u00bb)\]]*$/u;
const SENTENCE_MARK = /[!?\uff01\uff1f\u061f\u3002]/u;

function endsSentence(text: string): boolean {
  return SENTENCE_END.test(text) || SENTENCE_MARK.test(text);
}

/** Whether a text that is no id is data all the same: a number, a link, a date or a path. */
function isData(text: string): boolean {
  if (isReference(text) || EMAIL.test(text) || PATH.test(text) || NUMBER.test(text)) return true;
  const tokens = text.split(/\s+/);
  return tokens.length > 1 && 2 * tokens.filter((token) => /\d/.test(token)).length >= tokens.length;
}

/** Whether a text is a list of tags, an address, JSON or encoded bytes. */
function isListed(text: string): boolean {
  return (
    STRUCTURE.test(text) || isListOfTags(text) || isAddress(text) || isEncodedText(text, { isAll: true })
  );
}

/** Whether a text is a list of labels: at least three of at most two words. */
function isListOfTags(text: string): boolean {
  const parts = text.split(/[,;|]/);
  return (
    parts.length > 2 && !endsSentence(text) && parts.every((part) => part.trim().split(/\s+/).length <= 2)
  );
}

/** Whether a text is an address: with a number, and hardly a word of four letters in lower case. */
function isAddress(text: string): boolean {
  if (!/\d/.test(text) || endsSentence(text)) return false;
  // linear: a run of letters is a match, or is passed over in one step.
  if (CASED.test(text)) return (text.match(/(?<![\p{L}\p{M}])\p{Ll}{4,}/gu) ?? []).length < 2;
  return /[\d\u53f7\u865f\u5ba4\ud638]$/u.test(text);
}

const CASED = /[\p{Lu}\p{Ll}]/u;
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const EAST_ASIAN_MARK = /[\u3001\u3002\uff0c\uff01\uff1f]/;
const SOUTHEAST_ASIAN = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;

/** Fewest characters of a text in a script without spaces; names are shorter. */
const MIN_EAST_ASIAN = { plain: 8, marked: 4 };
const MIN_SOUTHEAST_ASIAN = { plain: 25, marked: 8 };

/** Whether a text reads as a sentence or a part of one, rather than as a name or a label. */
function isProse(text: string): boolean {
  const ends = endsSentence(text);
  const isAtLeast = (pattern: RegExp, least: { plain: number; marked: number }, marked: boolean): boolean =>
    (text.match(pattern)?.length ?? 0) >= (marked ? least.marked : least.plain);
  if (isAtLeast(EAST_ASIAN, MIN_EAST_ASIAN, ends || EAST_ASIAN_MARK.test(text))) return true;
  if (isAtLeast(SOUTHEAST_ASIAN, MIN_SOUTHEAST_ASIAN, ends)) return true;
  const words = wordsOf(text);
  if (words.length < 2) return false;
  if (!CASED.test(text)) return ends || words.length >= 5;
  const lower = words.filter((word) => /^\p{Ll}/u.test(word));
  if (words.length >= 4 && words.every((word) => word === word.toUpperCase())) return true;
  if (ends) return lower.length > 0;
  if (words.length === 3) return lower.length >= 2 && lower.some((word) => word.length > 3);
  return words.length > 3 && 3 * lower.length >= words.length && !isName(words, lower);
}

/** Whether words are a name with particles, such as `van der`: the first and the last are capitalised. */
function isName(words: readonly string[], lower: readonly string[]): boolean {
  const isCapitalised = (word: string | undefined): boolean => word !== undefined && /^\p{Lu}/u.test(word);
  return isCapitalised(words[0]) && isCapitalised(words.at(-1)) && lower.every((word) => word.length <= 3);
}

/** The words of a text, without the marks around them. */
function wordsOf(text: string): string[] {
  return text.split(/\s+/).flatMap((token) => /[\p{L}\p{M}]+/u.exec(token)?.[0] ?? []);
}

interface Named {
  /** Name of the column, or of the innermost member that contains the value. */
  readonly name: string;
  readonly value: unknown;
}

/**
 * All texts of a record outside the given columns, in order, including those in lists and objects. Numbers, URLs, times,
 * hashes and blank values are not texts, nor are ids under names of ids. A single word with a digit or an underscore may
 * be an id: it counts as text unless its name is that of an id.
 */
export function textsBeside(fields: Fields, columns: readonly string[]): string[] {
  const left = new Set(columns.map((name) => fields.positionOf(name)));
  const texts: string[] = [];
  // An explicit stack, last first: values nest as deep as a parser lets them.
  const pending: Named[] = fields
    .names()
    .map((name, position): Named => ({ name, value: left.has(position) ? null : fields.at(position) }))
    .reverse();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { name, value } = next;
    if (holdsText(value)) {
      if (!isReference(value) && !(isIdName(name) && looksLikeId(value))) texts.push(value);
    } else if (Array.isArray(value)) {
      for (const member of value.toReversed() as unknown[]) pending.push({ name, value: member });
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value).reverse()) pending.push({ name: key, value: member });
    }
  }
  return texts;
}
