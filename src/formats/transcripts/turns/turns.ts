import { itemError, type ItemError } from '../../../domain/item-error.ts';
import type { OriginalRole, Role, Turn } from '../../../domain/request.ts';
import { isReadonlyArray } from '../../record.ts';
import { readCallArguments, readContent, type Attachment, type MessageContent } from '../content.ts';
import { isBlank } from '../draft.ts';
import { toOriginalRole, parseRole } from './roles.ts';

/** A conversation up to the first turn that cannot be sent to the guard. */
export interface Transcript {
  /** The turns up to the first that cannot be sent. */
  readonly turns: readonly Turn[];
  /** The 1-based number of each turn in the conversation. Turns with only attachments are omitted. */
  readonly numbers: readonly number[];
  /** Why the turns end early; null if they are complete. */
  readonly problem: ItemError | null;
  /** 1-based numbers of the turns from the problem on, except later system turns. */
  readonly unsent: readonly number[];
  /** Original role of each turn; null if it is the same, or if the turn is omitted or unreadable. */
  readonly originals: readonly (OriginalRole | null)[];
  /** Attachments of all messages, in order. */
  readonly attachments: readonly Attachment[];
}

/** A turn whose role was derived from the whole conversation, not only from its own role name. */
export class AssignedTurn {
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
 * Reads the turns of a conversation: `{role, content}` (OpenAI), `{from, value}` (ShareGPT), `[role, content]`, or a
 * `CastTurn`. Each turn is judged with all turns before it, so one that cannot be sent ends the conversation.
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
  if (parts === null)
    return createUnreadableTurn(null, null, 'INVALID_CONVERSATION', number, 'has no role and content');
  const role = parseRole(parts.role);
  if (role === null)
    return createUnreadableTurn(null, parts.content, 'INVALID_ROLE', number, 'has an unknown role');
  const original = value instanceof AssignedTurn ? value.original : toOriginalRole(parts.role, role);
  if (parts.content === null) {
    const what = 'has content that is not text';
    return { ...createUnreadableTurn(role, null, 'INVALID_CONVERSATION', number, what), original };
  }
  if (isBlank(parts.content.text) && parts.content.attachments.length === 0) {
    return { ...createUnreadableTurn(role, parts.content, 'EMPTY_CONTENT', number, 'is blank'), original };
  }
  return { role, content: parts.content, original, error: null };
}

function createUnreadableTurn(
  role: Role | null,
  content: MessageContent | null,
  code: 'INVALID_CONVERSATION' | 'INVALID_ROLE' | 'EMPTY_CONTENT',
  number: number,
  what: string,
): ReadTurn {
  return { role, content, original: null, error: itemError(code, `turn ${number} ${what}`) };
}

/** Reads the judged text of a turn with a known layout; empty if it cannot be read. */
export function readTurnText(turn: unknown): string {
  return turnParts(turn)?.content?.text ?? '';
}

function turnParts(
  value: unknown,
): { readonly role: string; readonly content: MessageContent | null } | null {
  if (isReadonlyArray(value)) {
    const [role, content] = value;
    return value.length === 2 && typeof role === 'string' ? { role, content: readContent(content) } : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const role = Object.hasOwn(value, 'role') ? fields['role'] : fields['from'];
  if (typeof role !== 'string') return null;
  const calls = readCallArguments(value);
  const content = Object.hasOwn(value, 'content') ? fields['content'] : fields['value'];
  if (content === undefined && calls === '') return null;
  const said = readContent(content ?? null);
  if (said === null || calls === '') return { role, content: said };
  // The assistant also produces the arguments of its calls, so they are judged with its text.
  const text = isBlank(said.text) ? calls : `${said.text}\n${calls}`;
  return { role, content: { text, attachments: said.attachments } };
}
