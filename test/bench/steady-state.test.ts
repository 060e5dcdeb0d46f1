import { describe, expect, it } from 'vitest';
import { capacityOf, steadyState } from '../../bench/harness/steady-state.ts';
import type { Execution } from '../../bench/processes/guard-settings.ts';

const SETTINGS = { instances: 4, maxBatchSize: 32 };

/** What a guard of four instances does, each from one execution to the next, with a rest after each. */
function work({ serviceMs = 20, idleMs = 0, executions = 250 } = {}): Execution[] {
  return Array.from({ length: SETTINGS.instances }, (_, instance) =>
    Array.from({ length: executions }, (_, index) => ({
      endedAtMs: 1_000_000 + instance + (index + 1) * (serviceMs + idleMs),
      serviceMs,
      items: 32,
      waiting: 1,
    })),
  ).flat();
}

function share(...guards: readonly Execution[][]): number {
  const steady = steadyState(guards);
  const settings = guards.map(() => SETTINGS);
  return steady.itemsPerSecond / capacityOf(steady, settings);
}

describe('the share of its capacity that a guard was used to', () => {
  it('falls with instances that wait', () => {
    expect(share(work({ idleMs: 5 }))).toBeCloseTo(20 / 25, 2);
  });

  it('does not fall with a slow beginning and a slow end', () => {
    const all = work();
    const last = all.at(-1)!.endedAtMs;
    const single = (endedAtMs: number) => ({ ...all[0]!, items: 1, endedAtMs });
    const before = [1, 2, 3].map((seconds) => single(1_000_000 - seconds * 1000));
    const after = [1, 2, 3].map((seconds) => single(last + seconds * 1000));
    expect(share([...before, ...all, ...after])).toBeCloseTo(1, 2);
  });

  it('is that of all guards together, whatever their speed', () => {
    const fast = work({ executions: 400 });
    const slow = work({ serviceMs: 80, executions: 100 });
    expect(share(fast, slow)).toBeCloseTo(1, 1);
    expect(share(fast, work({ serviceMs: 80, idleMs: 80, executions: 50 }))).toBeLessThan(0.95);
  });
});
