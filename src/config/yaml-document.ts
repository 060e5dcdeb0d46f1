import {
  Lexer,
  LineCounter,
  Parser,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Document,
  type Node,
} from 'yaml';
import { mistake } from './mistake.ts';
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

/** What the parser's commonest complaints mean to somebody who writes configuration. */
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

/** Whether collections are nested deeper than `MAX_DEPTH`. Reads the text token by token, without recursion. */
function isTooDeep(text: string): boolean {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    // What the parser yields is parsed again below; only how deep it stands counts here.
    for (const token of parser.next(lexeme)) void token;
    if (parser.stack.length > MAX_DEPTH) return true;
  }
  return false;
}

/**
 * Parses the text of a YAML (or JSON) file. `shown` is its name in messages. Failure('usage') with file, line and column
 * when it is not one YAML document.
 */
export function parseYaml(text: string, shown: string): YamlFile {
  if (isTooDeep(text)) throw mistake(shown, `lists and keys are nested deeper than ${MAX_DEPTH} levels`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${shown}:${line}:${col}`;
  };

  const wrong = document.errors[0] ?? document.warnings[0];
  if (wrong !== undefined) {
    throw mistake(at(wrong.pos[0]), SYNTAX_HINTS[wrong.code] ?? `not valid YAML (${wrong.message})`, wrong);
  }
  let data: unknown;
  try {
    data = document.toJS();
  } catch (error) {
    throw mistake(shown, 'an alias (*name) has no anchor before it, or there are too many aliases', error);
  }
  return {
    shown,
    data,
    valueAt: (path) => at(locate(document, path).value),
    keyAt: (path) => at(locate(document, path).key),
  };
}
