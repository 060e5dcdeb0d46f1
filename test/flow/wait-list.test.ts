import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitList, type TurnTaken } from '../../src/flow/wait-list.ts';

describe('WaitList', () => {
  /** Waiters need different numbers of permits, as with the owners of the list. */
  it('loses no wakeup, keeps the order and gives an aborted waiter no turn, whatever happens', async () => {
    const does = <Step extends string>(step: Step) => ({ do: fc.constant<Step>(step), signal: fc.nat(2) });
    const size = fc.integer({ min: 1, max: 10 });
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ ...does('wait'), size, mayBePassed: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record(does('abort')) },
      { weight: 3, arbitrary: fc.record({ ...does('leave'), which: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.record(does('turn of the event loop')) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const list = new WaitList();
        const stops = Array.from({ length: 3 }, () => new AbortController());
        let free = 10;
        interface Caller {
          readonly size: number;
          readonly mayBePassed: boolean;
          readonly signal: AbortSignal;
          state: 'waiting' | 'inside' | 'left';
          /** How the promise ended. */
          ended: 'resolved' | 'rejected' | null;
        }
        const callers: Caller[] = [];
        const violations: string[] = [];
        const waiting = (): Caller[] =>
          callers.filter(({ state, signal }) => state === 'waiting' && !signal.aborted);

        for (const next of steps) {
          if (next.do === 'wait') {
            const { size, mayBePassed } = next;
            const { signal } = stops[next.signal]!;
            const caller: Caller = { size, mayBePassed, signal, state: 'waiting', ended: null };
            const take = (): TurnTaken => {
              if (signal.aborted) violations.push('a turn was offered after the signal was aborted');
              if (caller.state !== 'waiting') violations.push('a turn was offered twice');
              if (free < size) return mayBePassed ? 'skipped' : 'blocked';
              // Nobody who came earlier and blocks those behind is overtaken.
              const earlier = waiting().slice(0, waiting().indexOf(caller));
              if (!earlier.every((other) => other.mayBePassed)) violations.push('a waiter was overtaken');
              caller.state = 'inside';
              free -= size;
              return 'taken';
            };
            callers.push(caller);
            list.wait(take, signal).then(
              () => (caller.ended = 'resolved'),
              () => (caller.ended = 'rejected'),
            );
          } else if (next.do === 'abort') {
            stops[next.signal]!.abort(new Error('stopped'));
            stops[next.signal] = new AbortController();
          } else if (next.do === 'leave') {
            const inside = callers.filter(({ state }) => state === 'inside');
            const leaving = inside[next.which % Math.max(1, inside.length)];
            if (leaving === undefined) continue;
            leaving.state = 'left';
            free += leaving.size;
            list.offerTurns();
          } else await new Promise(setImmediate);
          // Nobody waits who could go on.
          for (const caller of waiting()) {
            if (caller.size <= free) violations.push('a wakeup was lost');
            if (!caller.mayBePassed) break;
          }
        }
        await new Promise(setImmediate);
        expect(violations).toEqual([]);
        for (const { state, ended, signal } of callers) {
          const left = signal.aborted ? 'rejected' : null;
          expect(ended).toBe(state === 'waiting' ? left : 'resolved');
        }
      }),
    );
  });
});
