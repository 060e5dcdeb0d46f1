import { expect, test } from 'vitest';
import type { MultiturnRequest, Turn } from '../../../src/domain/request.ts';
import {
  closeAfterEach,
  connect,
  failure,
  guard,
  judge,
  restGuard,
  verdict,
} from '../../helpers/guards/guard-pool.ts';

closeAfterEach();

/** The requests for every turn of a conversation of so many. */
function everyTurn(turns: number): MultiturnRequest[] {
  const messages: Turn[] = Array.from({ length: turns }, (_, n) => [
    n % 2 === 0 ? 'user' : 'assistant',
    `é${n}`,
  ]);
  return messages.map((_, n) => ({
    requestType: 'multiturn',
    modality: 'text',
    messages,
    turns: n + 1,
    conversation: 0,
  }));
}

test('a conversation of 100,000 turns that no guard takes ends turn by turn', async () => {
  const pool = await connect([await restGuard()]);
  const outcomes = await judge(pool, everyTurn(100_000));
  expect(outcomes).toHaveLength(100_000);
  for (const outcome of outcomes) expect(failure(outcome).error.code).toBe('PROBE_NOT_LOADED');
});

test('the turns of a conversation go to one endpoint, in order, while conversations go on side by side (C-418)', async () => {
  const guards = await Promise.all([guard(), guard()]);
  const pool = await connect(guards);
  const requests = Array.from({ length: 20 }, (_, conversation) => {
    const turns = everyTurn(6);
    return turns.map((turn) => ({ ...turn, conversation: conversation * 6 }));
  }).flat();
  const endpoints = (await judge(pool, requests)).map((outcome) => verdict(outcome).endpoint);
  const used = new Set<string>();
  for (let first = 0; first < endpoints.length; first += 6) {
    const own = new Set(endpoints.slice(first, first + 6));
    expect(own.size).toBe(1);
    used.add(endpoints[first]!);
  }
  expect(used.size).toBe(2);
});
