import type { OriginalRole } from '../../../domain/original-role.ts';
import type { Role } from '../../../domain/request.ts';
import { JsonFields } from '../../json/json-fields.ts';
import { isList } from '../../record.ts';
import { messageContent } from '../content.ts';
import { isBlank } from '../draft.ts';
import { roleOf } from './roles.ts';
import { hasWords } from '../wording.ts';

/** Names under which a turn says who speaks, the likeliest first. */
const SPEAKER_NAMES = [
  ...['speaker', 'role', 'author', 'from', 'sender', 'sender_name', 'participant', 'user', 'username'],
  ...['user_name', 'screen_name', 'nickname', 'name'],
];

/** Names under which a turn says what is spoken, the likeliest first. */
const SPOKEN_NAMES = [
  ...['utterance', 'text', 'content', 'body', 'message', 'msg', 'comment', 'transcript', 'sentence', 'value'],
];

const NAMES: ReadonlySet<string> = new Set([...SPEAKER_NAMES, ...SPOKEN_NAMES]);

/** Words from which on a text is no name. */
const WORDS_OF_NO_NAME = 4;

/** What names somebody who is given as an object. */
const PERSON_NAMES = ['role', 'name', 'username', 'login', 'nickname', 'id'];

/** Those who answer, beside the assistants of the known layouts. */
const ANSWERING: ReadonlySet<string> = new Set<OriginalRole>(['agent', 'ai', 'chatbot', 'wizard']);

/** An element of a list of things that were said. */
export interface Spoken {
  /** Who, in lower case; null when it does not say. */
  readonly speaker: string | null;
  /** What, in a form that `messageContent` takes; null when nothing. */
  readonly content: unknown;
  readonly text: string;
  readonly fields: JsonFields;
  /** Names of the two, as far as they hold nothing else. */
  readonly used: readonly string[];
}

/**
 * The elements of a list in which people speak: objects, of which at least one has somebody who speaks (`speaker`,
 * `author`, `from`, …) and what is said (`utterance`, `body`, `text`, …). Null for any other list.
 */
export function spokenList(list: readonly unknown[]): readonly Spoken[] | null {
  const all: Spoken[] = [];
  for (const element of list) {
    if (!isObject(element)) return null;
    all.push(spokenIn(element));
  }
  return all.some(({ speaker, content }) => speaker !== null && content !== null) ? all : null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isList(value);
}

/** Who speaks in an object, and what is said. */
export function spokenIn(element: object): Spoken {
  const fields = new JsonFields(element, null);
  const used: string[] = [];
  // Large records have many objects in which nobody speaks.
  if (!fields.names().some((name) => NAMES.has(name.toLowerCase()))) {
    return { speaker: null, content: null, text: '', fields, used };
  }
  let speakerName = '';
  let speaker: string | null = null;
  for (const name of SPEAKER_NAMES) {
    const value = fields.get(name);
    // A number under this name is where something begins.
    speaker = name === 'from' && typeof value === 'number' ? null : personOf(value);
    if (speaker === null) continue;
    speakerName = name;
    // What is more than a name may be text: whoever looks at the rest of the turn looks at it as well.
    if (typeof value !== 'object' && !hasWords(speaker, WORDS_OF_NO_NAME)) used.push(name);
    break;
  }
  for (const name of SPOKEN_NAMES) {
    // Lists of names with values are common, and nobody speaks in them.
    if (name === 'value' && speakerName === 'name') continue;
    const content = contentOf(fields.get(name));
    if (content === null) continue;
    used.push(name);
    return { speaker, content, text: messageContent(content)!.text, fields, used };
  }
  return { speaker, content: null, text: '', fields, used };
}

function personOf(value: unknown): string | null {
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

/** A text, or a list of parts; a list of texts and of things with a text, as messengers export links and names. */
function contentOf(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (messageContent(value) !== null) return value;
  if (!isList(value)) return null;
  const texts = value.map((part) =>
    typeof part === 'string' ? part : isObject(part) ? (part as { readonly text?: unknown }).text : null,
  );
  return texts.every((text) => typeof text === 'string') ? texts.join('') : null;
}

/**
 * The guard's role for each speaker of a list. Whoever is not known to answer is a user. A `system` is the system of a
 * dialogue, which answers, where nobody else does; else it gives instructions as long as nobody has spoken.
 */
export function rolesOf(turns: readonly Spoken[]): readonly Role[] {
  const known = turns.map(({ speaker }): Role | null => {
    if (speaker === null) return null;
    return ANSWERING.has(speaker) ? 'assistant' : roleOf(speaker);
  });
  const someoneAnswers = known.includes('assistant');
  let begun = false;
  return known.map((role): Role => {
    if (role !== 'system') {
      begun = true;
      return role ?? 'user';
    }
    if (!someoneAnswers) return 'assistant';
    return begun ? 'user' : 'system';
  });
}
