import { history, type MultiturnRequest, type Turn } from '../../domain/request.ts';
import type { Part } from '../parts/judge-parts.ts';
import { textSpans } from './text-spans.ts';
import type { Windowed } from './windowed.ts';

/** Share of a window's bytes that the next one repeats, in whole turns. */
const OVERLAP_SHARE = 1 / 4;
/** What the system turns leave for the others has to be at least so much. */
const LEAST_BYTES = 64;

/**
 * A conversation that is judged piece by piece: the system turns it begins with stay, and a window slides over the
 * rest, turn by turn. A turn that is too long by itself is cut like a text. Positions are turns from 0.
 */
export function windowedConversation(request: MultiturnRequest): Windowed {
  const turns = history(request);
  const firstOther = turns.findIndex(([role]) => role !== 'system');
  const system = turns.slice(0, firstOther);
  const systemBytes = bytesOf(system);
  return {
    bytes: bytesOf(turns),
    covered: { unit: 'turns', judged: turns.length, total: turns.length },
    cut: (maxBytes) => {
      const room = maxBytes - systemBytes;
      if (room < LEAST_BYTES) return null;
      return slide(turns, firstOther, room).map(({ first, messages }): Part => {
        const all = [...system, ...messages];
        return { request: { ...request, messages: all, turns: all.length, conversation: null }, at: first };
      });
    },
  };
}

interface Window {
  readonly first: number;
  readonly messages: readonly Turn[];
}

/** Windows of at most `room` bytes over the turns from `firstOther` on. None ends with a system turn. */
function slide(turns: readonly Turn[], firstOther: number, room: number): Window[] {
  const windows: Window[] = [];
  for (let first = firstOther; first < turns.length;) {
    const [role, content] = turns[first]!;
    if (bytesOf([turns[first]!]) > room) {
      windows.push(...pieces(role, content, room).map((piece) => ({ first, messages: [piece] })));
      first++;
      continue;
    }
    let end = first;
    for (let bytes = 0; end < turns.length; end++) {
      bytes += bytesOf([turns[end]!]);
      if (bytes > room) break;
    }
    const judged = withoutSystemEnd(turns, first, end);
    if (judged > first) windows.push({ first, messages: turns.slice(first, judged) });
    if (end === turns.length) break;
    first = repeatFrom(turns, first, end, room);
  }
  return windows;
}

/** The pieces of one long turn; a system turn in the middle is judged as what a user wrote, so that it is judged. */
function pieces(role: Turn[0], content: string, room: number): Turn[] {
  const spoken = role === 'system' ? 'user' : role;
  return textSpans(content, Math.max(LEAST_BYTES, room - spoken.length)).map(({ from, to }): Turn => [
    spoken,
    content.slice(from, to),
  ]);
}

function withoutSystemEnd(turns: readonly Turn[], first: number, end: number): number {
  while (end > first && turns[end - 1]![0] === 'system') end--;
  return end;
}

/**
 * Where the window after one over `first` … `end - 1` begins: some turns back, but beyond `first`, and not so many that
 * the turn `end` has no room.
 */
function repeatFrom(turns: readonly Turn[], first: number, end: number, room: number): number {
  const most = Math.min(room * OVERLAP_SHARE, room - bytesOf([turns[end]!]));
  let start = end;
  for (let bytes = 0; start > first + 1; start--) {
    bytes += bytesOf([turns[start - 1]!]);
    if (bytes > most) break;
  }
  return start;
}

function bytesOf(turns: readonly Turn[]): number {
  return turns.reduce((bytes, [role, content]) => bytes + role.length + Buffer.byteLength(content), 0);
}
