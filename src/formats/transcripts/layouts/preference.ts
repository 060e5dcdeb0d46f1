import type { Audit } from '../../../config/run-config.ts';
import { itemError } from '../../../domain/item-error.ts';
import type { Turn } from '../../../domain/request.ts';
import { type Fields, isReadonlyArray } from '../../record.ts';
import {
  type Draft,
  type RecordDrafts,
  nestInPart,
  isBlank,
  createPromptDraft,
  createResponseDraft,
  createFailedDraft,
} from '../draft.ts';
import { draftTurns } from '../turns/conversation.ts';
import { parseRole } from '../turns/roles.ts';
import { readTurnText } from '../turns/turns.ts';
import { toText, parseTurns } from '../values.ts';

/**
 * Makes the items of a preference pair: `chosen` and `rejected`, with or without the `prompt` they answer. Each is a list of
 * turns, a transcript in one string, or plain text. A prompt that neither contains is an item of its own. Null for any other
 * record.
 */
export function draftPreference(fields: Fields, audit: Audit): RecordDrafts | null {
  const chosen = fields.get('chosen');
  const rejected = fields.get('rejected');
  if (chosen === undefined || rejected === undefined || !(isAnswer(chosen) || isAnswer(rejected)))
    return null;
  const prompt = fields.get('prompt');
  const drafts: Draft[] = [];
  const add = (side: string, value: unknown): void => {
    if (value === null) return;
    for (const draft of draftSide(prompt, value, audit, side, drafts.length)) {
      drafts.push(nestInPart(side, draft));
    }
  };
  add('chosen', chosen);
  add('rejected', rejected);
  const judged = ['chosen', 'rejected'];
  const texts = readPromptTexts(prompt);
  // Any other value under this name is searched like other lists and objects.
  if (texts.length > 0 || typeof prompt !== 'object') judged.unshift('prompt');
  if (!containsAll(drafts, texts)) {
    for (const draft of draftPrompt(prompt, audit, drafts.length)) drafts.push(nestInPart('prompt', draft));
  }
  return { drafts, judged };
}

/** Reads the texts of a prompt: one per turn, or a single one. */
function readPromptTexts(prompt: unknown): readonly string[] {
  const turns = parseAnyTurns(prompt)?.map(readTurnText) ?? [];
  const text = turns.every(isBlank) ? toText(prompt) : undefined;
  return (typeof text === 'string' ? [text] : turns).filter((each) => !isBlank(each));
}

/** Whether the items contain all these texts. A single text may also be part of a longer one. */
function containsAll(drafts: readonly Draft[], texts: readonly string[]): boolean {
  const contained = new Set<string>();
  let messages: readonly Turn[] | null = null;
  for (const { request } of drafts) {
    if (request === null) continue;
    if (request.requestType === 'multiturn') {
      // The items of one conversation share its turns.
      if (request.messages === messages) continue;
      messages = request.messages;
      for (const [, content] of messages) contained.add(content);
    } else if (request.requestType === 'response') contained.add(request.prompt ?? '').add(request.response);
    else if (request.requestType === 'generation') contained.add(request.prompt).add(request.chunks.join(''));
    else if (request.modality === 'text') contained.add(request.text);
  }
  if (texts.every((text) => contained.has(text))) return true;
  const [only] = texts;
  return texts.length === 1 && [...contained].some((text) => text.includes(only!));
}

function draftPrompt(prompt: unknown, audit: Audit, position: number): readonly Draft[] {
  const suffix = '#prompt';
  const turns = parseAnyTurns(prompt);
  if (turns?.some((turn) => !isBlank(readTurnText(turn))) === true) {
    return draftTurns(turns, { audit, suffix, position });
  }
  return [createPromptDraft(suffix, toText(prompt) ?? '')];
}

function isAnswer(value: unknown): boolean {
  return typeof value === 'string' || isReadonlyArray(value);
}

function draftSide(prompt: unknown, value: unknown, audit: Audit, side: string, position: number): Draft[] {
  const suffix = `#${side}`;
  const options = { audit, suffix, position };
  const promptTurns = parseAnyTurns(prompt);
  const turns = parseAnyTurns(value);
  if (turns !== undefined)
    return draftTurns([...promptTurnsBefore(prompt, promptTurns, turns), ...turns], options);
  if (promptTurns) return draftTurns(appendAnswer(promptTurns, value), options);
  const text = toText(value);
  if (typeof text !== 'string') {
    return [createFailedDraft(suffix, null, itemError('MALFORMED_ROW', `the ${side} side is not text`))];
  }
  const question = toText(prompt);
  return [
    typeof question === 'string'
      ? createResponseDraft(suffix, question, text)
      : createPromptDraft(suffix, text),
  ];
}

/** Reads the turns of a list or of a transcript in one string; undefined as in `parseTurns`. */
function parseAnyTurns(value: unknown): readonly unknown[] | undefined {
  const turns = parseTurns(value);
  if (turns !== undefined || typeof value !== 'string') return turns;
  return parseHumanAssistant(value) ?? undefined;
}

/** Returns the prompt's turns to put before one side: none unless that side starts with the assistant. */
function promptTurnsBefore(
  prompt: unknown,
  promptTurns: readonly unknown[] | undefined,
  turns: readonly unknown[],
): readonly unknown[] {
  if (!isAssistantTurn(turns[0])) return [];
  if (promptTurns) return promptTurns;
  const question = toText(prompt);
  return typeof question === 'string' ? [{ role: 'user', content: question }] : [];
}

/** Appends the answer to the prompt's turns, replacing an empty assistant turn at the end. */
function appendAnswer(promptTurns: readonly unknown[], answer: unknown): readonly unknown[] {
  const last = promptTurns.at(-1);
  const isOpen = isReadonlyArray(last) && last[0] === 'assistant' && last[1] === '';
  return [...(isOpen ? promptTurns.slice(0, -1) : promptTurns), { role: 'assistant', content: answer }];
}

function isAssistantTurn(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { role, from } = value as { readonly role?: unknown; readonly from?: unknown };
  const name = isReadonlyArray(value) ? value[0] : (role ?? from);
  return typeof name === 'string' && parseRole(name) === 'assistant';
}

/** Start of a turn in a transcript string, as in Anthropic's hh-rlhf data set. */
const TURN = /(?:^|\n\n)(Human|Assistant):/g;

/**
 * Parses a conversation in one string into [role, content] pairs. Each turn starts with an empty line and `Human:` or
 * `Assistant:`. Null for any other text.
 */
export function parseHumanAssistant(text: string): [role: string, content: string][] | null {
  const body = text.trimStart();
  const marks = [...body.matchAll(TURN)];
  if (marks.length === 0 || marks[0]!.index !== 0 || marks[0]![1] !== 'Human') return null;
  return marks.map((mark, index) => {
    const from = mark.index + mark[0].length;
    return [mark[1]!.toLowerCase(), body.slice(from, marks[index + 1]?.index).trim()];
  });
}
