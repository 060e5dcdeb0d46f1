import type { Lane } from '../../domain/item.ts';
import { PlanState } from '../../ingest/plan/plan-state.ts';
import type { PlanClosed } from '../../ingest/plan/plan-line.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import type { CommitTable } from '../log/commit-table.ts';

/** A sequence of shards whose items ascend in seq. */
export interface PlannedLane {
  readonly pass: number;
  readonly lane: Lane;
}

/** Facts about a plan as a whole that finishing and verifying need. */
export interface PlanOutline {
  readonly lanes: readonly PlannedLane[];
  /** Items planned so far. */
  readonly items: number;
  /** Planned shards, and how many of them are committed. */
  readonly shards: number;
  readonly committed: number;
  readonly pass: number;
  /** The highest epoch that has opened the plan. */
  readonly epoch: number;
  /** Closing lines, pass 1 first. */
  readonly closed: readonly PlanClosed[];
  /** Whether the latest pass is closed. */
  readonly isClosed: boolean;
  /** Whether the items of a shard with this hash may have been fed (`PlanState.wasFed`). */
  readonly wasFed: PlanState['wasFed'];
  /** Bytes of the file up to its last complete line. */
  readonly bytes: number;
}

/** Whether every planned item has a committed outcome and nothing more will be planned. */
export function isComplete(plan: PlanOutline): boolean {
  return plan.isClosed && plan.committed === plan.shards;
}

/** Reads the plan once; `bytes` limits it to a prefix. A missing file is an empty plan. */
export async function outlinePlan(
  path: string,
  commits: CommitTable,
  options: { readonly signal: AbortSignal; readonly bytes?: number },
): Promise<PlanOutline> {
  const state = new PlanState();
  const lanes = new Map<string, PlannedLane>();
  let committed = 0;
  let bytes = 0;
  try {
    for await (const batch of readRecordLines(path, options)) {
      for (const raw of batch) {
        bytes += raw.length + 1;
        const line = state.takeBytes(raw);
        if (line === null || 'closed' in line) continue;
        const { pass, lane } = line;
        lanes.set(`${pass} ${lane}`, { pass, lane });
        if (commits.has(line.shard)) committed++;
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const { items, shards, pass, epoch, closed, isClosed } = state;
  const wasFed: PlanState['wasFed'] = (line, hash) => state.wasFed(line, hash);
  return {
    lanes: [...lanes.values()],
    wasFed,
    items,
    shards,
    committed,
    pass,
    epoch,
    closed,
    isClosed,
    bytes,
  };
}
