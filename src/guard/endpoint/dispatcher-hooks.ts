import type { ItemCode } from '../../domain/item-error.ts';
import type { OutReason } from '../protocol/call-error.ts';
import type { Reading } from '../protocol/connection.ts';
import type { TaskQueue } from '../tasks/task-queue.ts';

export interface DispatcherOptions {
  /** The endpoint as recorded in outcomes. */
  readonly endpoint: string;
  readonly requestTimeoutMs: number;
  /** What waits for any endpoint. */
  readonly backlog: TaskQueue;
  /** Whether other endpoints take from it, too. */
  readonly isOneOfMany: () => boolean;
}

/** Why an endpoint is taken out; what is left out is false, or nothing. */
export interface Outage {
  readonly reason: OutReason;
  /** Only a changed setting can help. */
  readonly fatal?: boolean;
  /** See Fault. */
  readonly reached?: boolean;
  /** It asked to be left alone for so long, in milliseconds. */
  readonly leaveAloneMs?: number;
}

/** What a dispatcher tells its endpoint. */
export interface DispatcherHooks {
  /** Something was taken from the backlog. */
  taken(): void;
  /** The guard judged something. */
  succeeded(): void;
  /** Something is sent again, and why. */
  retried(cause: ItemCode | 'MODEL_CHANGED'): void;
  /** A version reading; false when that model must not be used. */
  accept(reading: Reading): boolean;
  /** The endpoint is of no use any more; to be answered with `stop`. */
  down(why: Outage): void;
  crashed(error: unknown): void;
}
