import type { z } from 'zod';
import type { Failure } from '../../domain/failure.ts';
import { usageError, quoteForMessage, suggestion } from '../usage-error.ts';
import { insteadOf } from '../settings/removed.ts';
import type { KeyPath, YamlFile } from './yaml-file.ts';

type Issue = z.core.$ZodIssue;

/** `sources[1].text`; empty for the document itself. */
export function keyName(path: KeyPath): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`,
    )
    .join('');
}

function valueIn(data: unknown, path: KeyPath): unknown {
  let value: unknown = data;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, step) as unknown;
  }
  return value;
}

function shownValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return quoteForMessage(value);
  if (typeof value === 'object') {
    const kind = Array.isArray(value) ? 'a list' : 'a mapping';
    const parts: unknown[] = Array.isArray(value) ? value : [value];
    // Unquoted, YAML reads embedded: as a mapping with that key.
    const unquoted = parts.some((part) => typeof part === 'object' && part !== null && 'embedded' in part);
    return unquoted ? `${kind}; "embedded:" needs quotes` : kind;
  }
  return typeof value === 'number' ? `the number ${value}` : `${JSON.stringify(value)}`;
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a text (in quotes, if it looks like a number)',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys',
  record: 'a mapping of keys',
};

function expectation(issue: Issue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_WORDS[issue.expected] ?? issue.expected;
    case 'too_small':
      return issue.origin === 'number' ? `at least ${issue.minimum}` : 'at least one entry or letter';
    case 'too_big':
      return issue.origin === 'number' ? `at most ${issue.maximum}` : `at most ${issue.maximum} entries`;
    default:
      return null;
  }
}

function failureOf(issue: Issue, file: YamlFile, knownKeys: (path: KeyPath) => readonly string[]): Failure {
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const path = [...issue.path, key];
    const instead = insteadOf(key);
    if (instead !== null) return usageError(file.keyAt(path), `${keyName(path)} was removed: ${instead}`);
    return usageError(
      file.keyAt(path),
      `${quoteForMessage(keyName(path))} is not a known key${suggestion(key, knownKeys(issue.path))}`,
    );
  }
  const name = issue.path.length === 0 ? 'the file' : keyName(issue.path);
  const place = `${file.valueAt(issue.path)}: ${name}`;
  const value = valueIn(file.data, issue.path);
  if (value === undefined) return usageError(place, 'is missing');
  if (issue.code === 'invalid_value') {
    const known = issue.values.map(String);
    const near = typeof value === 'string' ? suggestion(value, known) : `; known: ${known.join(', ')}`;
    return usageError(place, `${shownValue(value)} is not known${near}`);
  }
  const expected = expectation(issue);
  // Schemas whose failure has no such form (unions, own checks) carry their expectation as message.
  return usageError(place, `expected ${expected ?? issue.message}, found ${shownValue(value)}`);
}

/** The keys a strict object schema knows at a path; none where the path leads elsewhere. */
function keysOf(schema: z.ZodType, path: KeyPath): readonly string[] {
  const jsonSchema = schema.toJSONSchema({ io: 'input' });
  let node: unknown = jsonSchema;
  for (const step of path) {
    const { properties, items } = node as { properties?: Record<PropertyKey, unknown>; items?: unknown };
    node = typeof step === 'number' ? items : properties?.[step];
    if (typeof node !== 'object' || node === null) return [];
  }
  return Object.keys((node as { properties?: object }).properties ?? {});
}

/**
 * Checks a YAML document against a schema. Failure('usage') for the first mistake in the file: its line and
 * column, the key, and what is expected there or which known key is nearest.
 */
export function checkShape<S extends z.ZodType>(schema: S, file: YamlFile): z.output<S> {
  const parsed = schema.safeParse(file.data);
  if (parsed.success) return parsed.data;
  // An unknown key explains a missing one beside it, so it is reported first.
  const issue =
    parsed.error.issues.find(({ code }) => code === 'unrecognized_keys') ?? parsed.error.issues[0]!;
  throw failureOf(issue, file, (path) => keysOf(schema, path));
}
