import { submittedTurns, type MultiturnRequest, type Turn, turnBytes } from '../../domain/request.ts';
import type { PartsCoverage, Part } from '../parts/judge-parts.ts';
import { textSpans } from './text-spans.ts';
import type { WindowedContent } from './text-windows.ts';

/** Max fraction of a window's bytes that the next one repeats, in whole turns. */
const OVERLAP_SHARE = 1 / 4;
/** Max fraction of a window's bytes that the preamble may take. */
const PREAMBLE_SHARE = 1 / 2;

/**
 * Splits a conversation into windows. The system turns at its beginning (the preamble) are in every window, unless they
 * take more than half of it; the window slides over the rest, turn by turn. A turn that exceeds a window is cut like
 * any text. Positions are turns, counted from 0.
 *
 * The guard rejects a conversation that ends with a system turn. So system turns at the end of a window move to the
 * next one. If that has no room for them and the turn that follows, or if a system turn is cut, the last one is sent as
 * a user turn.
 */
export function splitConversation(request: MultiturnRequest): WindowedContent {
  const turns = new SizedTurns(submittedTurns(request));
  return {
    bytes: turns.bytes(0, turns.count),
    cut: function* (maxBytes): Generator<Part, PartsCoverage> {
      const preamble = preambleOf(turns, maxBytes);
      const system = turns.slice(0, preamble);
      let judged = 0;
      for (const { first, messages, ended } of slide(turns, preamble, maxBytes)) {
        const all = [...system, ...messages];
        yield { request: { ...request, messages: all, turns: all.length, conversation: null }, at: first };
        judged += ended;
      }
      // The preamble is in every window, or there is no window.
      return { unit: 'turns', judged: judged === 0 ? 0 : preamble + judged, total: turns.count };
    },
  };
}

/** Turns, with the size of any range of them. */
class SizedTurns {
  readonly #turns: readonly Turn[];
  /** Prefix sums: element i is the size of the turns before i, in bytes. */
  readonly #before: readonly number[];

  constructor(turns: readonly Turn[]) {
    this.#turns = turns;
    let sum = 0;
    this.#before = [0, ...turns.map((turn) => (sum += turnBytes(turn)))];
  }

  get count(): number {
    return this.#turns.length;
  }

  at(index: number): Turn {
    return this.#turns[index]!;
  }

  isSystem(index: number): boolean {
    return this.#turns[index]?.[0] === 'system';
  }

  /** Size of the turns from `from` up to, but not including, `to`. */
  bytes(from: number, to: number): number {
    return this.#before[to]! - this.#before[from]!;
  }

  slice(from: number, to: number): readonly Turn[] {
    return this.#turns.slice(from, to);
  }
}

/** Number of turns in the preamble; 0 if it would take too much of a window. */
function preambleOf(turns: SizedTurns, maxBytes: number): number {
  let count = 0;
  while (turns.isSystem(count)) count++;
  return count < turns.count && turns.bytes(0, count) <= maxBytes * PREAMBLE_SHARE ? count : 0;
}

interface Window {
  readonly first: number;
  readonly messages: readonly Turn[];
  /** Number of turns that are complete with this window and were not before. */
  readonly ended: number;
}

/** Windows over the turns after the preamble, with room for the preamble. None ends with a system turn. */
function* slide(turns: SizedTurns, preamble: number, maxBytes: number): Generator<Window> {
  const room = maxBytes - turns.bytes(0, preamble);
  // Invariant: the turns before `next` have been sent. Each window sends at least one new turn.
  for (let next = preamble; next < turns.count;) {
    if (turns.bytes(next, next + 1) > room) {
      yield* pieces(turns, next, room);
      next++;
      continue;
    }
    const first = repeatFrom(turns, preamble, next, room);
    let end = next + 1;
    while (end < turns.count && turns.bytes(first, end + 1) <= room) end++;
    const spoken = withoutSystemEnd(turns, next, end);
    if (spoken > next) {
      yield { first, messages: turns.slice(first, spoken), ended: spoken - next };
      next = spoken;
    } else {
      const [, content] = turns.at(end - 1);
      const messages: readonly Turn[] = [...turns.slice(first, end - 1), ['user', content]];
      yield { first, messages, ended: end - next };
      next = end;
    }
  }
}

/** The pieces of a turn that exceeds a window. */
function* pieces(turns: SizedTurns, index: number, room: number): Generator<Window> {
  const [role, content] = turns.at(index);
  const spoken = role === 'system' ? 'user' : role;
  let end = 0;
  let isWhole = true;
  for (const { from, to } of textSpans(content, room - spoken.length)) {
    isWhole &&= from <= end;
    end = to;
    const last = end === content.length;
    yield { first: index, messages: [[spoken, content.slice(from, to)]], ended: last && isWhole ? 1 : 0 };
  }
}

function withoutSystemEnd(turns: SizedTurns, first: number, end: number): number {
  while (end > first && turns.isSystem(end - 1)) end--;
  return end;
}

/**
 * First turn of the window whose first new turn is `next`. It repeats earlier turns as long as there is room for
 * `next`, and, if `next` is a system turn, for the turns up to the next one that is not.
 */
function repeatFrom(turns: SizedTurns, preamble: number, next: number, room: number): number {
  let end = next + 1;
  while (turns.isSystem(end - 1) && end < turns.count && turns.bytes(next, end) <= room) end++;
  const maxOverlap = Math.min(room * OVERLAP_SHARE, room - turns.bytes(next, end));
  let first = next;
  while (first > preamble && turns.bytes(first - 1, next) <= maxOverlap) first--;
  return first;
}
