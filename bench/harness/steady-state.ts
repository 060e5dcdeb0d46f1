import { Failure } from '../../src/domain/failure.ts';
import type { Execution } from '../processes/guard-settings.ts';

/** Items at the beginning and at the end of a run that do not count: what starts and what runs out is not steady. */
const EDGE_SHARE = 0.1;

/** What guards did while the middle 80 % of the items were judged. */
export interface SteadyState {
  readonly itemsPerSecond: number;
  readonly seconds: number;
  readonly items: number;
  /** Of each guard, in their order. */
  readonly guards: readonly SteadyGuard[];
}

export interface SteadyGuard {
  readonly executions: number;
  readonly items: number;
  /** Mean time that an execution took of its instance. */
  readonly serviceMs: number;
  /** Mean number of requests that waited for an instance as an execution ended. */
  readonly waiting: number;
}

/**
 * Cuts out the steady part of what guards did, by the moments at which items were judged. It lasts from the end of the
 * execution that judged the last of the first tenth to the end of the one before the last tenth, and counts what ended
 * in between. Failure('internal') when there is no such part: too few executions.
 */
export function steadyState(guards: readonly (readonly Execution[])[]): SteadyState {
  const all = guards
    .flatMap((executions, guard) => executions.map((execution) => ({ ...execution, guard })))
    .sort((a, b) => a.endedAtMs - b.endedAtMs);
  const total = all.reduce((sum, { items }) => sum + items, 0);
  let judged = 0;
  let first = -1;
  let last = -1;
  all.forEach(({ items }, index) => {
    judged += items;
    if (first < 0 && judged >= total * EDGE_SHARE) first = index;
    if (judged <= total * (1 - EDGE_SHARE)) last = index;
  });
  const steady = all.slice(first + 1, last + 1);
  const seconds = last > first ? (all[last]!.endedAtMs - all[first]!.endedAtMs) / 1000 : 0;
  if (seconds <= 0) throw new Failure('internal', 'too few executions for a steady state: use more rows');
  const items = steady.reduce((sum, execution) => sum + execution.items, 0);
  return {
    itemsPerSecond: items / seconds,
    seconds,
    items,
    guards: guards.map((_, guard) => ofGuard(steady.filter((execution) => execution.guard === guard))),
  };
}

function ofGuard(executions: readonly Execution[]): SteadyGuard {
  const mean = (value: (execution: Execution) => number): number =>
    executions.reduce((sum, execution) => sum + value(execution), 0) / Math.max(1, executions.length);
  return {
    executions: executions.length,
    items: executions.reduce((sum, { items }) => sum + items, 0),
    serviceMs: mean(({ serviceMs }) => serviceMs),
    waiting: mean(({ waiting }) => waiting),
  };
}

/**
 * Items a second that guards could have judged in that time with full batches and instances that never wait, taking
 * as long for an execution as they really took. So what was lost to idle instances, to part-filled batches and to
 * `version` requests is missing from the throughput, and not from this.
 */
export function capacityOf(
  { guards }: SteadyState,
  settings: readonly { readonly instances: number; readonly maxBatchSize: number }[],
): number {
  return guards.reduce((sum, { serviceMs }, guard) => {
    const { instances, maxBatchSize } = settings[guard]!;
    return serviceMs === 0 ? sum : sum + (instances * maxBatchSize * 1000) / serviceMs;
  }, 0);
}
