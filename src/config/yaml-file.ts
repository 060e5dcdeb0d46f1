import { open } from 'node:fs/promises';
import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, type Document, type Node } from 'yaml';
import { mistake, quoted, type Located } from './mistake.ts';

export type KeyPath = readonly PropertyKey[];

/** A YAML document that knows where each of its keys and values stands. */
export interface YamlFile {
  /** As shown in messages: how the user named it. */
  readonly shown: string;
  readonly data: unknown;
  /** `file:line:col` of a value, or of the nearest thing around it that is there. */
  valueAt(path: KeyPath): string;
  /** `file:line:col` of a key. */
  keyAt(path: KeyPath): string;
}

const LARGEST_BYTES = 1024 * 1024;

async function readText(absolute: string, { value: shown, place }: Located<string>): Promise<string> {
  try {
    const handle = await open(absolute, 'r');
    try {
      if ((await handle.stat()).size > LARGEST_BYTES) {
        throw mistake(shown, 'is larger than 1 MB, which no configuration is');
      }
      const bytes = await handle.readFile();
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw mistake(place, `no such file: ${quoted(shown)}`, error);
    if (code === 'EISDIR') throw mistake(place, `${quoted(shown)} is a folder, not a YAML file`, error);
    if (code === 'EACCES') throw mistake(place, `${quoted(shown)} may not be read by this user`, error);
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw mistake(shown, 'is not UTF-8 text', error);
    throw error;
  }
}

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

/**
 * Reads and parses a YAML (or JSON) file of at most 1 MB. Text is taken as it stands: nothing is substituted from
 * the environment. `named` is its path as messages show it, and where it was named. Failure('usage') with that place when
 * it cannot be read, with file, line and column when it is not one YAML document.
 */
export async function readYamlFile(absolute: string, named: Located<string>): Promise<YamlFile> {
  const text = await readText(absolute, named);
  const shown = named.value;
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
