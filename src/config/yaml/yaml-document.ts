import {
  Lexer,
  LineCounter,
  Parser,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type CST,
  type Document,
  type Node,
} from 'yaml';
import { usageError } from '../usage-error.ts';
import type { KeyPath, YamlFile } from './yaml-file.ts';

function startOf(node: unknown): number | null {
  return (node as Node | null)?.range?.[0] ?? null;
}

/** Offsets of the key and the value at a path, as far down as the document goes. */
function locate(document: Document, path: KeyPath): { key: number; value: number } {
  let node: unknown = document.contents;
  let value = startOf(node) ?? 0;
  let key = value;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((item) => (isScalar(item.key) ? String(item.key.value) : null) === step);
      if (pair === undefined) break;
      key = startOf(pair.key) ?? key;
      node = pair.value;
      // An empty value has a position after its key at best; the key says more.
      value = isScalar(node) && node.source === '' ? key : (startOf(node) ?? key);
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      value = startOf(node) ?? value;
      key = value;
    } else {
      break;
    }
  }
  return { key, value };
}

/** The parser's most common errors, in the terms of configuration files. */
const SYNTAX_HINTS: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'this key was already given above',
  MULTIPLE_DOCS: 'only one YAML document is allowed in a file',
  TAB_AS_INDENT: 'indent with spaces, not with a tab',
  TAG_RESOLVE_FAILED: 'YAML tags (!…) are not used here',
  BAD_INDENT: 'the indentation does not fit, or a bracket is not closed',
  BLOCK_AS_IMPLICIT_KEY:
    'a second ": " in one line; put a value that ends in a colon, as "embedded:", in quotes',
};

/** Far deeper than any configuration. The library composes documents recursively and would run out of stack. */
const MAX_DEPTH = 64;

/** Far more than any configuration has in one mapping. The library compares each key with all before it. */
const MAX_KEYS = 1000;

/** Every alias makes the library walk the document up to it. */
const MAX_ALIASES = 100;

/**
 * Enough for about 20,000 sources. The library's time grows with the number of tokens: a megabyte of `}` takes it 12 s.
 */
const MAX_TOKENS = 200_000;

/** The lexeme that precedes the text of a scalar. */
const SCALAR = '\x1f';

/** Why a text is too costly to parse; null: it is not. Reads it token by token, without recursion. */
function excess(text: string): string | null {
  const parser = new Parser();
  let tokens = 0;
  let aliases = 0;
  let before = '';
  for (const lexeme of new Lexer().lex(text)) {
    if (++tokens > MAX_TOKENS) return `there are more than ${MAX_TOKENS} words, signs and line ends`;
    // What the parser yields is parsed again below; only how deep and how large it is counts here.
    for (const token of parser.next(lexeme)) void token;
    if (parser.stack.length > MAX_DEPTH) return `lists and keys are nested deeper than ${MAX_DEPTH} levels`;
    if (lexeme.startsWith('*') && before !== SCALAR && ++aliases > MAX_ALIASES)
      return `there are more than ${MAX_ALIASES} aliases (*name)`;
    if (parser.stack.some(hasTooManyKeys)) return `there are more than ${MAX_KEYS} keys in one place`;
    before = lexeme;
  }
  return null;
}

function hasTooManyKeys(token: CST.Token): boolean {
  const isMapping =
    token.type === 'block-map' || (token.type === 'flow-collection' && token.start.type === 'flow-map-start');
  return isMapping && token.items.length > MAX_KEYS;
}

/**
 * Parses the text of a YAML (or JSON) file. `shown` is its name in messages. Failure('usage') with file, line and column
 * when it is not one YAML document.
 */
export function parseYaml(text: string, shown: string): YamlFile {
  const tooMuch = excess(text);
  if (tooMuch !== null) throw usageError(shown, tooMuch);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${shown}:${line}:${col}`;
  };

  const wrong = document.errors[0] ?? document.warnings[0];
  if (wrong !== undefined) {
    throw usageError(
      at(wrong.pos[0]),
      SYNTAX_HINTS[wrong.code] ?? `not valid YAML (${wrong.message})`,
      wrong,
    );
  }
  let data: unknown;
  try {
    data = document.toJS();
  } catch (error) {
    throw usageError(shown, 'an alias (*name) has no anchor before it, or there are too many aliases', error);
  }
  return {
    shown,
    data,
    valueAt: (path) => at(locate(document, path).value),
    keyAt: (path) => at(locate(document, path).key),
  };
}
