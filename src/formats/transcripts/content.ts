import { isReadonlyArray } from '../record.ts';

/** The text of a message, and its parts that are not text. */
export interface MessageContent {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

export type AttachmentKind = 'image' | 'audio' | 'file';

/** A message part that is not text. */
export interface Attachment {
  readonly kind: AttachmentKind;
  readonly part: object;
}

const NO_ATTACHMENTS: readonly Attachment[] = [];

/** The field with the text of each type of text part. */
const TEXT_PARTS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['input_text', 'text'],
  ['output_text', 'text'],
  ['refusal', 'refusal'],
]);

export const ATTACHMENT_PARTS: ReadonlyMap<unknown, AttachmentKind> = new Map<unknown, AttachmentKind>([
  ['image', 'image'],
  ['image_url', 'image'],
  ['input_image', 'image'],
  ['audio', 'audio'],
  ['input_audio', 'audio'],
  ['file', 'file'],
  ['input_file', 'file'],
]);

/** Fields of an attachment that specify how to read it. */
export const ATTACHMENT_SETTINGS: ReadonlySet<string> = new Set(['detail', 'format']);

/** Whether the `type` of an object in a message belongs to a known layout and is therefore not content. */
export function isKnownType(type: unknown): boolean {
  return type === 'function' || TEXT_PARTS.has(type) || ATTACHMENT_PARTS.has(type);
}

/**
 * Reads the content of a message in OpenAI's formats: a string, a list of parts, or null if the message consists of calls. Joins
 * text parts by line breaks. Returns null for anything else.
 */
export function readContent(content: unknown): MessageContent | null {
  if (typeof content === 'string') return { text: content, attachments: NO_ATTACHMENTS };
  if (content === null) return { text: '', attachments: NO_ATTACHMENTS };
  return isReadonlyArray(content) ? readParts(content) : null;
}

function readParts(parts: readonly unknown[]): MessageContent | null {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const part of parts) {
    if (typeof part === 'string') {
      texts.push(part);
      continue;
    }
    if (typeof part !== 'object' || part === null) return null;
    const fields = part as Readonly<Record<string, unknown>>;
    const type = fields['type'];
    const attachment = ATTACHMENT_PARTS.get(type);
    if (attachment !== undefined) {
      attachments.push({ kind: attachment, part });
      continue;
    }
    const text = fields[TEXT_PARTS.get(type) ?? ''];
    if (typeof text !== 'string') return null;
    texts.push(text);
  }
  return { text: texts.join('\n'), attachments };
}

/** Joins the arguments of a message's calls by line breaks; empty if there are none. */
export function readCallArguments(message: object): string {
  const { tool_calls: toolCalls, function_call: functionCall } = message as Readonly<Record<string, unknown>>;
  if (toolCalls === undefined && functionCall === undefined) return '';
  return listCalls(message)
    .map(formatArguments)
    .filter((value) => value !== null)
    .join('\n');
}

/** Lists the calls of a message: the objects with a name and arguments. */
export function listCalls(message: object): readonly object[] {
  const { tool_calls: toolCalls, function_call: functionCall } = message as Readonly<Record<string, unknown>>;
  const calls = isReadonlyArray(toolCalls) ? toolCalls : [toolCalls];
  const called = calls.map((call) => {
    const inner = readMember(call, 'function');
    return typeof inner === 'object' && inner !== null ? inner : call;
  });
  return [...called, functionCall].filter((call) => typeof call === 'object' && call !== null);
}

/** Maximum nesting depth of arguments. */
const MAX_LEVELS = 100;

/** The arguments of a call as JSON text; null if there are none or they are nested too deeply. */
export function formatArguments(called: object): string | null {
  const value = readMember(called, 'arguments');
  if (typeof value === 'string') return value;
  return value === undefined || value === null || isDeeper(value, MAX_LEVELS) ? null : JSON.stringify(value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
