import type { OriginalRole, Role } from '../../../domain/request.ts';
import { JsonFields } from '../../json/json-fields.ts';
import { isReadonlyArray, type Fields } from '../../record.ts';
import { readContent } from '../content.ts';
import { isBlank } from '../draft.ts';
import { parseRole } from './roles.ts';
import { hasWords } from '../wording.ts';

/** Names of a turn's speaker field, most likely first. */
const SPEAKER_NAMES = [
  ...['speaker', 'role', 'author', 'from', 'sender', 'sender_name', 'participant', 'user', 'username'],
  ...['user_name', 'screen_name', 'nickname', 'name'],
];

/** Names of a turn's text field, most likely first. */
const CONTENT_NAMES = [
  ...['utterance', 'text', 'content', 'body', 'message', 'msg', 'comment', 'transcript', 'sentence', 'value'],
];

const NAMES: ReadonlySet<string> = new Set([...SPEAKER_NAMES, ...CONTENT_NAMES]);

/** Names of a message's time field, as exported by messengers. */
const TIME_NAMES = ['timestamp', 'date', 'ts', 'timestamp_ms', 'datetime', 'time', 'created_at', 'sent_at'];

/** A string with this many words is not a speaker's name. */
const MIN_NON_NAME_WORDS = 4;

/** Fields with the name of a speaker that is an object. */
const PERSON_NAMES = ['role', 'name', 'username', 'login', 'nickname', 'id'];

/** Speakers that answer, in addition to the assistants of the known layouts. */
const ANSWERING: ReadonlySet<string> = new Set<OriginalRole>(['agent', 'ai', 'chatbot', 'wizard']);

/** An element of a list of utterances. */
export interface Utterance {
  /** Speaker in lower case; null if not given. */
  readonly speaker: string | null;
  /** The content, as input for `readContent`; null if there is none. */
  readonly content: unknown;
  readonly text: string;
  /** Whether it has a time. */
  readonly isDated: boolean;
  readonly fields: Fields;
  /** The name of the speaker's field; null if there is none. */
  readonly speakerName: string | null;
  /** Names of speaker and content, unless their values may hold other texts. */
  readonly used: readonly string[];
}

/**
 * Reads a list of utterances: objects, at least one with a speaker (`speaker`, `author`, `from`, ...) and text (`utterance`,
 * `body`, `text`, ...). Null for any other list.
 */
export function readUtterances(list: readonly unknown[]): readonly Utterance[] | null {
  const all: Utterance[] = [];
  for (const element of list) {
    if (!isObject(element)) return null;
    all.push(readUtterance(new JsonFields(element, null)));
  }
  return all.some(({ speaker, content }) => speaker !== null && content !== null) ? all : null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isReadonlyArray(value);
}

/** Reads the speaker and the text of an object. */
export function readUtterance(fields: Fields): Utterance {
  const used: string[] = [];
  // Fast path: large records have many objects that are not utterances.
  if (!fields.names().some((name) => NAMES.has(name.toLowerCase()))) {
    return { speaker: null, content: null, text: '', isDated: false, fields, speakerName: null, used };
  }
  const isDated = TIME_NAMES.some((name) => ['string', 'number'].includes(typeof fields.get(name)));
  let speakerName: string | null = null;
  let speaker: string | null = null;
  for (const name of SPEAKER_NAMES) {
    const value = fields.get(name);
    // A number under this name is an offset.
    speaker = name === 'from' && typeof value === 'number' ? null : readSpeaker(value);
    if (speaker === null) continue;
    speakerName = name;
    // A value that is more than a name may be text, so it is searched with the rest of the turn.
    if (typeof value !== 'object' && !hasWords(speaker, MIN_NON_NAME_WORDS)) used.push(name);
    break;
  }
  for (const name of CONTENT_NAMES) {
    // Lists of name-value pairs are common and are not utterances.
    if (name === 'value' && speakerName === 'name') continue;
    const content = readSpokenContent(fields.get(name));
    if (content === null) continue;
    used.push(name);
    return { speaker, content, text: readContent(content)!.text, isDated, fields, speakerName, used };
  }
  return { speaker, content: null, text: '', isDated, fields, speakerName, used };
}

function readSpeaker(value: unknown): string | null {
  if (typeof value === 'string') return isBlank(value) ? null : value.trim().toLowerCase();
  if (typeof value === 'number') return String(value);
  if (!isObject(value)) return null;
  const fields = new JsonFields(value, null);
  for (const name of PERSON_NAMES) {
    const person = fields.get(name);
    if (typeof person === 'string' || typeof person === 'number') return String(person).trim().toLowerCase();
  }
  return null;
}

/** Accepts a string or a list of parts, and joins a list of strings and objects with `text`, as messengers export links. */
function readSpokenContent(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (readContent(value) !== null) return value;
  if (!isReadonlyArray(value)) return null;
  const texts = value.map((part) =>
    typeof part === 'string' ? part : isObject(part) ? (part as { readonly text?: unknown }).text : null,
  );
  return texts.every((text) => typeof text === 'string') ? texts.join('') : null;
}

/** Whether a speaker, in lower case, is a role in a dialogue rather than a name. */
export function isRoleName(speaker: string): boolean {
  return ANSWERING.has(speaker) || parseRole(speaker) !== null;
}

/**
 * Assigns a role of the guard to each turn. Speakers who are not known to answer are users. If no other speaker answers,
 * `system` is a dialogue system and therefore the assistant. Otherwise it is the system prompt before the first other turn,
 * and a user after it.
 */
export function assignRoles(turns: readonly Utterance[]): readonly Role[] {
  const known = turns.map(({ speaker }): Role | null => {
    if (speaker === null) return null;
    return ANSWERING.has(speaker) ? 'assistant' : parseRole(speaker);
  });
  const hasAssistant = known.includes('assistant');
  let begun = false;
  return known.map((role): Role => {
    if (role !== 'system') {
      begun = true;
      return role ?? 'user';
    }
    if (!hasAssistant) return 'assistant';
    return begun ? 'user' : 'system';
  });
}
