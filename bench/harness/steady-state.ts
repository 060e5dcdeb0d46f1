import { Failure } from '../../src/domain/failure.ts';
import type { Execution } from '../processes/guard-settings.ts';

/** Fraction of items at the start and at the end of a run that is ignored because it is not steady. */
const EDGE_SHARE = 0.1;

/** Work of the guards while they judged the middle 80 % of the items. */
export interface SteadyState {
  readonly itemsPerSecond: number;
  readonly seconds: number;
  readonly items: number;
  /** One entry per guard, in order. */
  readonly guards: readonly SteadyGuard[];
}

interface SteadyGuard {
  readonly executions: number;
  readonly items: number;
  /** Mean service time of an execution. */
  readonly serviceMs: number;
  /** Mean number of queued requests when an execution ended. */
  readonly waiting: number;
}

/**
 * The steady part of a run, by the times when items were judged: from the end of the execution that completes the first
 * tenth of the items to the end of the last one before the last tenth. Failure('internal') for too few executions.
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
 * Items per second that the guards could have judged with full batches and no idle instances, at the measured service
 * time. Idle instances, partly filled batches and `version` requests lower the throughput, but not this.
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
