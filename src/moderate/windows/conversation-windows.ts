import { history, type MultiturnRequest, type Turn, turnBytes } from '../../domain/request.ts';
import type { Covered, Part } from '../parts/judge-parts.ts';
import { textSpans } from './text-spans.ts';
import type { Windowed } from './windowed.ts';

/** Share of a window's bytes that the next one repeats, in whole turns. */
const OVERLAP_SHARE = 1 / 4;
/** Share of a window's bytes up to which the system turns at the beginning are part of every window. */
const PREAMBLE_SHARE = 1 / 2;

/**
 * A conversation that is judged piece by piece: the system turns it begins with stay, unless they take more than half
 * a window, and a window slides over the rest, turn by turn. A turn that is too long by itself is cut like a text.
 * Positions are turns from 0.
 *
 * The guard takes no conversation that ends with a system turn. System turns at the end of a window are left to the
 * next one; where that has no room for them beside the turn they stand before, and where a system turn is cut, the
 * last is sent as what a user says.
 */
export function windowedConversation(request: MultiturnRequest): Windowed {
  const turns = new SizedTurns(history(request));
  return {
    bytes: turns.bytes(0, turns.count),
    cut: function* (maxBytes): Generator<Part, Covered> {
      const preamble = preambleOf(turns, maxBytes);
      const system = turns.slice(0, preamble);
      let judged = 0;
      for (const { first, messages, ended } of slide(turns, preamble, maxBytes)) {
        const all = [...system, ...messages];
        yield { request: { ...request, messages: all, turns: all.length, conversation: null }, at: first };
        judged += ended;
      }
      // What comes first is in every window, or in none.
      return { unit: 'turns', judged: judged === 0 ? 0 : preamble + judged, total: turns.count };
    },
  };
}

/** Turns, and how many bytes any stretch of them takes. */
class SizedTurns {
  readonly #turns: readonly Turn[];
  /** At i: bytes of the turns before i. */
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

  /** Of the turns `from` … `to - 1`. */
  bytes(from: number, to: number): number {
    return this.#before[to]! - this.#before[from]!;
  }

  slice(from: number, to: number): readonly Turn[] {
    return this.#turns.slice(from, to);
  }
}

/** How many turns at the beginning are part of every window: its system turns, if they leave room for others. */
function preambleOf(turns: SizedTurns, maxBytes: number): number {
  let count = 0;
  while (turns.isSystem(count)) count++;
  return count < turns.count && turns.bytes(0, count) <= maxBytes * PREAMBLE_SHARE ? count : 0;
}

interface Window {
  readonly first: number;
  readonly messages: readonly Turn[];
  /** Turns of which this window holds the last that was not sent before. */
  readonly ended: number;
}

/** Windows over the turns from `preamble` on, with room for the turns before. None ends with a system turn. */
function* slide(turns: SizedTurns, preamble: number, maxBytes: number): Generator<Window> {
  const room = maxBytes - turns.bytes(0, preamble);
  // The turns before `next` are sent; there is always a turn that each window sends for the first time.
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

/** The pieces of one long turn. */
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
 * Where the window begins that sends `next` first: some turns back, but not so many that `next` has no room, nor the
 * turn that the system turns from `next` on stand before.
 */
function repeatFrom(turns: SizedTurns, preamble: number, next: number, room: number): number {
  let end = next + 1;
  while (turns.isSystem(end - 1) && end < turns.count && turns.bytes(next, end) <= room) end++;
  const most = Math.min(room * OVERLAP_SHARE, room - turns.bytes(next, end));
  let first = next;
  while (first > preamble && turns.bytes(first - 1, next) <= most) first--;
  return first;
}
