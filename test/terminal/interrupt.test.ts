import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchInterrupts } from '../../src/terminal/interrupt.ts';
import { Failure } from '../../src/domain/failure.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched() {
  const source = new EventEmitter();
  const calls: string[] = [];
  const interrupts = watchInterrupts(source, { onKill: () => calls.push('kill') });
  interrupts.drain.addEventListener('abort', () => calls.push('drain'));
  interrupts.stop.addEventListener('abort', () => calls.push('stop'));
  return { source, calls, interrupts };
}

describe('an interrupt', () => {
  it('drains first, and stops after 10 s', () => {
    const { source, calls, interrupts } = watched();
    source.emit('SIGINT');
    expect(interrupts.drain.aborted).toBe(true);
    expect(interrupts.drain.reason).toMatchObject({ name: 'Failure', kind: 'interrupted', exitStatus: 130 });
    vi.advanceTimersByTime(9_999);
    expect(interrupts.stop.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(interrupts.stop.aborted).toBe(true);
    expect(interrupts.stop.reason).toBeInstanceOf(Failure);
    expect(calls).toEqual(['drain', 'stop']);
  });

  it('given twice stops at once, three times ends the process', () => {
    const { source, calls, interrupts } = watched();
    source.emit('SIGTERM');
    vi.advanceTimersByTime(1000);
    source.emit('SIGINT');
    expect(interrupts.stop.aborted).toBe(true);
    vi.advanceTimersByTime(1000);
    source.emit('SIGINT');
    vi.advanceTimersByTime(60_000);
    expect(calls).toEqual(['drain', 'stop', 'kill']);
  });

  it('that npm passes on a second time still counts once', () => {
    const { source, calls } = watched();
    source.emit('SIGINT');
    vi.advanceTimersByTime(20);
    source.emit('SIGINT');
    expect(calls).toEqual(['drain']);
  });
});
