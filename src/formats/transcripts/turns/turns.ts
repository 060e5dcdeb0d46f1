import { itemError, type ItemError } from '../../../domain/item-error.ts';
import type { OriginalRole } from '../../../domain/original-role.ts';
import type { Role, Turn } from '../../../domain/request.ts';
import { isList } from '../../record.ts';
import { callArguments, messageContent, type Attachment, type MessageContent } from '../content.ts';
import { isBlank } from '../draft.ts';
import { originalRole, roleOf } from './roles.ts';

/** A conversation as far as the guard can take it. */
export interface Transcript {
  /** The turns up to the first that cannot be sent. */
  readonly turns: readonly Turn[];
  /** Of each of them, which turn of the conversation it is, counted from 1: what holds nothing but attachments is left out. */
  readonly numbers: readonly number[];
  /** Why the turns end there; null when they are all there. */
  readonly problem: ItemError | null;
  /** From the problem on: which turns (1-based) a user or an assistant, or nobody we know, has. */
  readonly unsent: readonly number[];
  /** Of each turn of the conversation, its original role; null for one that has no other, is left out or cannot be read. */
  readonly originals: readonly (OriginalRole | null)[];
  /** What is attached to the messages, in order. */
  readonly attachments: readonly Attachment[];
}

/** A turn whose role does not follow from the name it has in its record alone. */
export class CastTurn {
  readonly role: Role;
  readonly original: OriginalRole | null;
  readonly content: unknown;

  constructor(role: Role, original: OriginalRole | null, content: unknown) {
    this.role = role;
    this.original = original;
    this.content = content;
  }
}

/**
 * Reads the turns of a conversation: `{role, content}` as OpenAI has them, `{from, value}` as ShareGPT, `[role,
 * content]`, or a `CastTurn`. Since each turn is judged with all before it, one that cannot be sent ends the conversation.
 */
export function readTurns(values: readonly unknown[]): Transcript {
  const turns: Turn[] = [];
  const numbers: number[] = [];
  const unsent: number[] = [];
  const originals: (OriginalRole | null)[] = [];
  const attachments: Attachment[] = [];
  let problem: ItemError | null = null;
  values.forEach((value, index) => {
    const read = readTurn(value, index + 1);
    if (read.content !== null) for (const each of read.content.attachments) attachments.push(each);
    const isLeftOut = read.error === null && isBlank(read.content.text);
    originals.push(isLeftOut ? null : read.original);
    if (read.error === null && problem === null) {
      if (isLeftOut) return;
      turns.push([read.role, read.content.text]);
      numbers.push(index + 1);
      return;
    }
    if (problem === null || read.role !== 'system') unsent.push(index + 1);
    problem ??= read.error;
  });
  return { turns, numbers, problem, unsent, originals, attachments };
}

type ReadTurn = { readonly original: OriginalRole | null } & (
  | { readonly role: Role; readonly content: MessageContent; readonly error: null }
  | { readonly role: Role | null; readonly content: MessageContent | null; readonly error: ItemError }
);

function readTurn(value: unknown, number: number): ReadTurn {
  const parts = turnParts(value);
  if (parts === null) return refused(null, null, 'INVALID_CONVERSATION', number, 'has no role and content');
  const role = roleOf(parts.role);
  if (role === null) return refused(null, parts.content, 'INVALID_ROLE', number, 'has an unknown role');
  const original = value instanceof CastTurn ? value.original : originalRole(parts.role, role);
  if (parts.content === null) {
    const what = 'has content that is not text';
    return { ...refused(role, null, 'INVALID_CONVERSATION', number, what), original };
  }
  if (isBlank(parts.content.text) && parts.content.attachments.length === 0) {
    return { ...refused(role, parts.content, 'EMPTY_CONTENT', number, 'is blank'), original };
  }
  return { role, content: parts.content, original, error: null };
}

function refused(
  role: Role | null,
  content: MessageContent | null,
  code: 'INVALID_CONVERSATION' | 'INVALID_ROLE' | 'EMPTY_CONTENT',
  number: number,
  what: string,
): ReadTurn {
  return { role, content, original: null, error: itemError(code, `turn ${number} ${what}`) };
}

/** What a turn of a known layout says, as it is judged; empty when it cannot be read. */
export function textOfTurn(turn: unknown): string {
  return turnParts(turn)?.content?.text ?? '';
}

function turnParts(
  value: unknown,
): { readonly role: string; readonly content: MessageContent | null } | null {
  if (isList(value)) {
    const [role, content] = value;
    return value.length === 2 && typeof role === 'string' ? { role, content: messageContent(content) } : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const role = Object.hasOwn(value, 'role') ? fields['role'] : fields['from'];
  if (typeof role !== 'string') return null;
  const calls = callArguments(value);
  const content = Object.hasOwn(value, 'content') ? fields['content'] : fields['value'];
  if (content === undefined && calls === '') return null;
  const said = messageContent(content ?? null);
  if (said === null || calls === '') return { role, content: said };
  // What is called with is as much the assistant's doing as what is said.
  const text = isBlank(said.text) ? calls : `${said.text}\n${calls}`;
  return { role, content: { text, attachments: said.attachments } };
}
