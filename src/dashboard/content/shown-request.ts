import type { Item } from '../../domain/item.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import {
  type GenerationRequest,
  submittedTurns,
  type MultiturnRequest,
  type TextRequest,
  type Turn,
} from '../../domain/request.ts';
import { findWindow } from '../../moderate/windows/window-at.ts';
import type { ItemContent, MarkedSpan } from '../api/items.ts';

type ShownRequest = Extract<ItemContent, { kind: 'text' | 'pair' | 'conversation' }>;

/** Maximum turns of a conversation that are shown. */
const MAX_TURNS = 200;

/** Maximum text shown of a conversation, in UTF-16 units: half of it for the turns up to the decisive one. */
const MAX_BEFORE = 200_000;

interface Judged {
  readonly line: OutcomeLine;
  /** Items of the item's record. */
  readonly record: readonly Item[];
  /** The turn in the record that tipped the conversation; null if none did. */
  readonly tippedBy: number | null;
}

/**
 * Prepares a text, a pair or a conversation, as it was judged, for display: shortened, with the part marked that
 * decided.
 */
export function shownRequest(request: TextRequest, judged: Judged): ShownRequest {
  const { line } = judged;
  const at = line.coverage?.unit === 'chars' ? line.coverage.worst_at : null;
  switch (request.requestType) {
    case 'prompt':
      return { kind: 'text', ...shownText(request.text, markedAt(request.text, at)) };
    case 'response': {
      const { prompt, response } = request;
      const marked = markedAt(response, at, prompt ?? '');
      return prompt === null
        ? { kind: 'text', ...shownText(response, marked) }
        : pair(prompt, response, marked);
    }
    case 'generation':
      return pair(request.prompt, request.chunks.join(''), flaggedChunk(request, line));
    case 'multiturn':
      return conversation(request, judged);
  }
}

function markedAt(text: string, at: number | null, beside = ''): MarkedSpan | null {
  return at === null ? null : findWindow(text, at, beside);
}

/** Chunk up to which a stream had been judged when it was first flagged. */
function flaggedChunk({ chunks }: GenerationRequest, { stream }: OutcomeLine): MarkedSpan | null {
  const index = stream?.first_flagged_seq ?? stream?.first_caution_seq ?? null;
  const chunk = index === null ? undefined : chunks[index];
  if (index === null || chunk === undefined) return null;
  const from = chunks.slice(0, index).reduce((length, { length: next }) => length + next, 0);
  return { from, to: from + chunk.length };
}

function pair(prompt: string, response: string, marked: MarkedSpan | null): ShownRequest {
  const asked = shownText(prompt, null, MAX_SHOWN / 2);
  const answered = shownText(response, marked);
  return {
    kind: 'pair',
    prompt: asked.text,
    response: answered.text,
    marked: answered.marked,
    cut: asked.cut || answered.cut,
  };
}

function conversation(request: MultiturnRequest, judged: Judged): ShownRequest {
  const turns = submittedTurns(request);
  const decisive = decisiveTurn(request, judged);
  const first = firstShown(turns, decisive ?? turns.length);
  const shown: { role: string; text: string }[] = [];
  let left = MAX_BEFORE;
  let cut = first > 1;
  for (const [role, content] of turns.slice(first - 1)) {
    if (shown.length === MAX_TURNS || left <= 0) {
      cut = true;
      break;
    }
    const part = shownText(content, null, Math.min(MAX_SHOWN, left));
    shown.push({ role, text: part.text });
    left -= part.text.length;
    cut ||= part.cut;
  }
  return { kind: 'conversation', turns: shown, first_turn: first, tipped_at: decisive, cut };
}

/**
 * The turn that a verdict is about, 1-based among the submitted turns: the one that tipped the conversation, the last
 * one of a turn's history, or the first one of the window that decided.
 */
function decisiveTurn(request: MultiturnRequest, { line, record, tippedBy }: Judged): number | null {
  if (line.turn === null) {
    const at = line.coverage?.unit === 'turns' ? line.coverage.worst_at : null;
    return at === null ? null : at + 1;
  }
  const tipping = record.find(({ part, turn }) => part === line.part && turn === tippedBy)?.request;
  const tippedAt = tipping?.requestType === 'multiturn' ? tipping.turns : request.turns;
  return Math.min(tippedAt, request.turns);
}

/** First turn to show, with as many turns before the decisive one as fit into half of the display. */
function firstShown(turns: readonly Turn[], decisive: number): number {
  let left = MAX_BEFORE / 2 - (turns[decisive - 1]?.[1].length ?? 0);
  let first = decisive;
  while (first > 1 && decisive - first < MAX_TURNS / 2) {
    left -= turns[first - 2]![1].length;
    if (left < 0) break;
    first--;
  }
  return first;
}

/** Maximum length of displayed text, in UTF-16 units: about 40 pages. */
const MAX_SHOWN = 100_000;

/** Length of the text shown before the mark, for longer texts. */
const BEFORE_MARK = 20_000;

interface ShownText {
  readonly text: string;
  readonly marked: MarkedSpan | null;
  /** Whether this is only part of the text. */
  readonly cut: boolean;
}

/**
 * Text for display. A long text is shortened to the part around the mark, or to its beginning. Never ends within a
 * character.
 */
function shownText(text: string, marked: MarkedSpan | null, max = MAX_SHOWN): ShownText {
  if (text.length <= max) return { text, marked, cut: false };
  const wanted = Math.max(0, (marked?.from ?? 0) - Math.min(BEFORE_MARK, max / 2));
  const from = between(text, Math.min(wanted, text.length - max));
  const to = between(text, from + max);
  const span = marked && { from: marked.from - from, to: Math.min(marked.to, to) - from };
  return { text: text.slice(from, to), marked: span, cut: true };
}

/** The position, or the previous one if it is within a surrogate pair. */
function between(text: string, at: number): number {
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isLow && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}
