import { isList } from '../record.ts';

/** The content of a message: its text, and the parts of it that are not text. */
export interface MessageContent {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

export type AttachmentKind = 'image' | 'audio' | 'file';

/** Something in a message that is no text, as the part that holds it. */
export interface Attachment {
  readonly kind: AttachmentKind;
  readonly part: object;
}

const NO_ATTACHMENTS: readonly Attachment[] = [];

/** Part types that carry text, and under which name. */
export const TEXT_PARTS: ReadonlyMap<unknown, string> = new Map([
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

/**
 * The content of a message as OpenAI's formats have it: a text, a list of parts, or nothing (null, when the message
 * consists of calls). Text parts are joined by line breaks. Null when it is none of these.
 */
export function messageContent(content: unknown): MessageContent | null {
  if (typeof content === 'string') return { text: content, attachments: NO_ATTACHMENTS };
  if (content === null) return { text: '', attachments: NO_ATTACHMENTS };
  return isList(content) ? partsContent(content) : null;
}

function partsContent(parts: readonly unknown[]): MessageContent | null {
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

/** The arguments of the calls a message makes, joined by line breaks; empty when it makes none. */
export function callArguments(message: object): string {
  const { tool_calls: toolCalls, function_call: functionCall } = message as Readonly<Record<string, unknown>>;
  if (toolCalls === undefined && functionCall === undefined) return '';
  return calledIn(message)
    .map(argumentsOf)
    .filter((value) => value !== null)
    .join('\n');
}

/** What a message calls: the objects that hold name and arguments. */
export function calledIn(message: object): readonly object[] {
  const { tool_calls: toolCalls, function_call: functionCall } = message as Readonly<Record<string, unknown>>;
  const calls = isList(toolCalls) ? toolCalls : [toolCalls];
  const called = calls.map((call) => {
    const inner = member(call, 'function');
    return typeof inner === 'object' && inner !== null ? inner : call;
  });
  return [...called, functionCall].filter((call) => typeof call === 'object' && call !== null);
}

/** Levels of arguments up to which they are written out. */
const MAX_LEVELS = 100;

/** The arguments of a call as JSON text, as which most layouts have them. Null when there are none, or too deep ones. */
export function argumentsOf(called: object): string | null {
  const value = member(called, 'arguments');
  if (typeof value === 'string') return value;
  return value === undefined || value === null || isDeeper(value, MAX_LEVELS) ? null : JSON.stringify(value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
