import { readXml, unescapeCharacters, type XmlTag } from './xml.ts';

/** The words of one XML file of a document, as lines. */
export interface XmlText {
  /** Text as rendered, with alternative texts. */
  readonly visible: string[];
  /** Text that is not rendered: deletions, hidden text, field codes, and text that older programs show instead. */
  readonly hidden: string[];
}

/** Elements whose text forms one line, including all elements inside. Outside them, each element forms its own line. */
const PARAGRAPHS: ReadonlySet<string> = new Set(['p', 'h', 'si', 'is', 'comment']);
/** Elements inside a paragraph that are rendered elsewhere and must not divide its words. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'txbxContent',
  'text-box',
  'note',
  'annotation',
  'rt',
  'ruby-text',
]);
const HIDDEN: ReadonlySet<string> = new Set([
  'delText',
  'instrText',
  'moveFrom',
  'Fallback',
  'tracked-changes',
  'hidden-text',
  'hidden-paragraph',
]);
/** Elements whose text is not words: drawing positions, settings, and number formats. */
const NOT_WORDS: ReadonlySet<string> = new Set(
  (
    'posOffset align pctWidth pctHeight config-item number-style currency-style date-style time-style ' +
    'percentage-style boolean-style text-style'
  ).split(' '),
);
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['tab', '\t'],
  ['ptab', '\t'],
  ['br', '\n'],
  ['cr', '\n'],
  ['line-break', '\n'],
  ['s', ' '],
  ['noBreakHyphen', '-'],
]);
/** Elements that define tab stops. */
const TAB_STOPS: ReadonlySet<string> = new Set(['tabs', 'tabLst']);
/** Attributes that contain words: alternative texts, hints, texts of shapes and choices of lists. */
const WORDS: ReadonlySet<string> = new Set(
  'descr title alt tooltip prompt promptTitle error errorTitle string displayText help-text'.split(' '),
);
/** Elements whose `val` attribute contains words. */
const WORDS_IN_VALUE: ReadonlySet<string> = new Set(
  'lvlText alias docVar listEntry helpText statusText default'.split(' '),
);
/** Minimum length: labels of lists are mostly a character, or a number and a full stop. */
const MIN_VALUE_LENGTH = 5;

interface Element {
  readonly local: string;
  isHidden: boolean;
  readonly isSkipped: boolean;
  /** Whether spaces at the ends of a text are rendered, which WordprocessingML specifies. */
  readonly keepsSpace: boolean;
  readonly isSpreadsheet: boolean;
  /** Whether this is OpenDocument, which has text in any element of a paragraph and collapses spaces. */
  readonly isOdf: boolean;
}

/** A line being read, and the number of open paragraphs around it. */
interface Line {
  visible: string;
  hidden: string;
  paragraphs: number;
}

function symbol(hex: string): string {
  const code = Number.parseInt(hex, 16);
  return String.fromCharCode(code >= 0xf000 && code <= 0xf0ff ? code - 0xf000 : code);
}

/**
 * Reads the words of an XML file of an office document (ECMA-376, OpenDocument) from its bytes, regardless of what its
 * elements are for; they only decide how words are joined. If `skipsCells`, omits the cells of sheets. Throws the
 * errors of `readXml`.
 */
export async function readXmlText(bytes: AsyncIterable<Buffer>, skipsCells: boolean): Promise<XmlText> {
  const text: XmlText = { visible: [], hidden: [] };
  const stack: Element[] = [];
  const lines: Line[] = [{ visible: '', hidden: '', paragraphs: 0 }];
  const hiddenStyles = new Set<string | undefined>();
  let styleName: string | undefined;

  const add = (words: string, isHidden: boolean): void => {
    lines.at(-1)![isHidden ? 'hidden' : 'visible'] += words;
  };
  const endLine = (): void => {
    const line = lines.at(-1)!;
    for (const side of ['visible', 'hidden'] as const) {
      if (/\S/.test(line[side])) text[side].push(line[side].trim());
      line[side] = '';
    }
  };
  const open = ({ local, uri, attributes }: XmlTag): void => {
    const parent = stack.at(-1);
    const value = attributes.get('val') ?? '';
    for (const [name, words] of attributes) {
      const holdsWords =
        WORDS.has(name) || (name === 'val' && WORDS_IN_VALUE.has(local) && words.length >= MIN_VALUE_LENGTH);
      if (holdsWords && /\S/.test(words)) text.visible.push(words.trim());
    }
    if (attributes.has('instr')) text.hidden.push(attributes.get('instr')!);
    // A style that hides the text it is applied to, such as `<style:text-properties text:display="none"/>`.
    if (local === 'style') styleName = attributes.get('name');
    else if (styleName !== undefined && attributes.get('display') === 'none') hiddenStyles.add(styleName);
    if (local === 'vanish' && !/^(?:0|false|off)$/.test(value)) {
      const run = stack.at(-2);
      if (run?.local === 'r') run.isHidden = true;
    }
    stack.push({
      local,
      isHidden:
        (parent?.isHidden ?? false) || HIDDEN.has(local) || hiddenStyles.has(attributes.get('style-name')),
      isSkipped:
        (parent?.isSkipped ?? false) ||
        NOT_WORDS.has(local) ||
        (skipsCells && (local === 'sheetData' || (local === 'p' && parent?.local === 'table-cell'))),
      keepsSpace:
        attributes.get('space') === 'preserve' ||
        (parent?.keepsSpace ?? false) ||
        !uri.includes('wordprocessingml'),
      isSpreadsheet: uri.includes('spreadsheetml'),
      isOdf: uri.includes('opendocument'),
    });
    if (ELSEWHERE.has(local)) lines.push({ visible: '', hidden: '', paragraphs: 0 });
    if (PARAGRAPHS.has(local)) lines.at(-1)!.paragraphs++;
    const { isHidden, isSkipped } = stack.at(-1)!;
    if (isSkipped) return;
    if (!TAB_STOPS.has(parent?.local ?? '')) add(CHARACTERS.get(local) ?? '', isHidden);
    // A character given by its code in a font; symbol fonts use a private area.
    if (local === 'sym') add(symbol(attributes.get('char') ?? ''), isHidden);
  };
  const characters = (words: string): void => {
    const element = stack.at(-1);
    if (element === undefined || element.isSkipped) return;
    if (element.isOdf) add(words.replace(/\s+/g, ' '), element.isHidden);
    else if (element.isSpreadsheet) add(unescapeCharacters(words), element.isHidden);
    else if (element.local === 't') add(element.keepsSpace ? words : words.trim(), element.isHidden);
    else if (/\S/.test(words)) add(words, element.isHidden);
  };
  const close = (): void => {
    const { local } = stack.pop()!;
    if (PARAGRAPHS.has(local)) lines.at(-1)!.paragraphs--;
    if (PARAGRAPHS.has(local) || ELSEWHERE.has(local) || lines.at(-1)!.paragraphs === 0) endLine();
    if (ELSEWHERE.has(local)) lines.pop();
  };

  await readXml(bytes, { open, text: characters, close });
  // The same words are repeated for older programs.
  const seen = new Set(text.visible);
  return { visible: text.visible, hidden: text.hidden.filter((line) => !seen.has(line)) };
}
