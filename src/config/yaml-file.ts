import { hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import type * as Yaml from 'yaml';
import { z } from 'zod';
import { Failure } from '../domain/failure.ts';
import { FileTooLargeError, readWholeFile } from '../files/open-file.ts';
import { replacementFor } from './settings/removed.ts';
import { quoteForMessage, suggestion, usageError, type WithOrigin } from './usage-error.ts';

export type KeyPath = readonly PropertyKey[];

/** A YAML document that knows the position of each of its keys. */
export interface YamlFile {
  /** Name shown in messages: the file as the user named it. */
  readonly shown: string;
  readonly data: unknown;
  /** Returns `file:line:col` of a key or list element, or of its nearest existing parent. */
  at(path: KeyPath): string;
}

const MAX_BYTES = 1024 * 1024;

/** The parser takes quadratic time for some input: 0.2 s for this many characters. */
const MAX_YAML_CHARS = 128 * 1024;

/**
 * The parser recurses. At some 700 levels it overflows the stack, and then V8 may end the process: it cannot compile a
 * regular expression there.
 */
const MAX_NESTING = 200;

/**
 * Reads a configuration file of at most 1 MB, with the SHA-256 of its bytes. `named` is its path as messages show it,
 * and the origin that named it. `inspect` may reject the open file. Failure('usage') if it cannot be read or is not
 * UTF-8.
 */
export async function readTextFile(
  absolute: string,
  { value: shown, place }: WithOrigin<string>,
  inspect?: (stats: Stats) => void,
): Promise<{ readonly text: string; readonly sha256: string }> {
  try {
    const bytes = await readWholeFile(absolute, { maxBytes: MAX_BYTES, links: 'follow', inspect });
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), sha256: hash('sha256', bytes) };
  } catch (error) {
    if (error instanceof FileTooLargeError)
      throw usageError(shown, 'is larger than 1 MB, which no configuration is', error);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw usageError(place, `no such file: ${quoteForMessage(shown)}`, error);
    if (code === 'ENOTFILE') throw usageError(place, `${quoteForMessage(shown)} is not a file`, error);
    if (code === 'EACCES')
      throw usageError(place, `${quoteForMessage(shown)} may not be read by this user`, error);
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw usageError(shown, 'is not UTF-8 text', error);
    throw error;
  }
}

/** Reads and parses a YAML (or JSON) file. Parameters and failures as in `readTextFile` and `parseYaml`. */
export async function readYamlFile(
  absolute: string,
  named: WithOrigin<string>,
  inspect?: (stats: Stats) => void,
): Promise<YamlFile> {
  const { text } = await readTextFile(absolute, named, inspect);
  return parseYaml(text, named.value);
}

/**
 * Parses the text of a YAML (or JSON) file. `shown` is its name in messages. Failure('usage') with file, line and column,
 * and the parser's message, if it is not one YAML document. Nothing is substituted from the environment.
 */
export async function parseYaml(text: string, shown: string): Promise<YamlFile> {
  if (text.length > MAX_YAML_CHARS)
    throw usageError(shown, 'is larger than 128 KB: name folders or globs instead of single files');
  // Loaded on demand: most runs have no job file and do not need the parser.
  const yaml = await import('yaml');
  if (maxNesting(text, yaml) > MAX_NESTING)
    throw usageError(shown, `nests deeper than ${MAX_NESTING} levels`);
  const { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } = yaml;
  const lines = new LineCounter();
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${shown}:${line}:${col}`;
  };
  const offsetOf = (document: Yaml.Document, path: KeyPath): number => {
    let node: unknown = document.contents;
    let offset = startOf(node) ?? 0;
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
        offset = startOf(pair?.key) ?? offset;
        node = pair?.value;
      } else if (isSeq(node)) {
        node = node.items[Number(step)];
        offset = startOf(node) ?? offset;
      } else break;
    }
    return offset;
  };
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
    const wrong = document.errors[0] ?? document.warnings[0];
    if (wrong !== undefined) throw usageError(at(wrong.pos[0]), wrong.message, wrong);
    return { shown, data: document.toJS(), at: (path) => at(offsetOf(document, path)) };
  } catch (error) {
    if (error instanceof Failure) throw error;
    // Aliases without an anchor or with too many values.
    throw usageError(shown, error instanceof Error ? error.message : 'not usable as YAML', error);
  }
}

/**
 * The most levels that a text may nest, counted in tokens: open brackets, and, outside of them, the indentation of a line
 * and its indicators, since each block is further to the right than the one around it.
 */
function maxNesting(text: string, { CST, Lexer }: typeof Yaml): number {
  let [most, brackets, block] = [0, 0, 0];
  let startsLine = true;
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token);
    if (type === 'flow-map-start' || type === 'flow-seq-start') brackets++;
    else if (type === 'flow-map-end' || type === 'flow-seq-end') brackets = Math.max(0, brackets - 1);
    else if (brackets === 0) {
      if (type === 'newline') block = 0;
      else if (type === 'space' && startsLine) block = token.length;
      else if (type === 'seq-item-ind' || type === 'explicit-key-ind' || type === 'map-value-ind') block++;
    }
    startsLine = type === 'newline';
    most = Math.max(most, brackets + block);
  }
  return most;
}

function startOf(node: unknown): number | null {
  return (node as Yaml.Node | null | undefined)?.range?.[0] ?? null;
}

/**
 * Checks a YAML document against a schema. Failure('usage') for the first mistake in the file: its line and column, the
 * key, and what the schema expects there or the nearest known key.
 */
export function checkShape<S extends z.ZodType>(schema: S, file: YamlFile): z.output<S> {
  const parsed = schema.safeParse(file.data);
  if (parsed.success) return parsed.data;
  // An unknown key explains a missing one next to it, so it is reported first.
  const unknown = parsed.error.issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) throw unknownKey(unknown, file, keysOf(schema, unknown.path));
  const { path, message } = parsed.error.issues[0]!;
  throw usageError(`${file.at(path)}: ${path.length === 0 ? 'the file' : z.core.toDotPath(path)}`, message);
}

function unknownKey(
  { keys, path }: z.core.$ZodIssueUnrecognizedKeys,
  file: YamlFile,
  known: readonly string[],
): Failure {
  const key = keys[0]!;
  const group = path.length === 0 ? '' : ` of ${z.core.toDotPath(path)}`;
  const instead = replacementFor(key);
  return usageError(
    file.at([...path, key]),
    instead === null
      ? `${quoteForMessage(key)} is not a known key${group}${suggestion(key, known)}`
      : `${key} was removed: ${instead}`,
  );
}

/** The keys that a strict object schema knows at a path; empty if the path leads elsewhere. */
function keysOf(schema: z.ZodType, path: KeyPath): readonly string[] {
  let node: unknown = schema.toJSONSchema({ io: 'input' });
  for (const step of path) {
    const { properties, items } = node as { properties?: Record<PropertyKey, unknown>; items?: unknown };
    node = typeof step === 'number' ? items : properties?.[step];
    if (typeof node !== 'object' || node === null) return [];
  }
  return Object.keys((node as { properties?: object }).properties ?? {});
}
