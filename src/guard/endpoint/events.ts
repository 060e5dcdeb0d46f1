import type { Failure } from '../../domain/failure.ts';
import type { ItemCode } from '../../domain/item-error.ts';
import type { OutReason } from '../protocol/call-error.ts';
import type { Reading } from '../protocol/connection.ts';
import type { NotUsable } from '../protocol/not-usable.ts';
import type { Task } from '../tasks/task.ts';

/** Why tasks are sent again. */
export type RetryCause = ItemCode | 'MODEL_CHANGED';

/** Why an endpoint is taken out of use. */
export interface Outage {
  readonly reason: OutReason;
  /** Whether only a changed setting can help. Default false. */
  readonly fatal?: boolean;
  /** Whether requests may have been running there; see `Fault`. Default false. */
  readonly reached?: boolean;
  /** Pause that the guard asked for, in milliseconds. Default 0. */
  readonly retryAfterMs?: number;
}

/** Events of an endpoint that its pool handles. */
export interface PoolEvents {
  /** The endpoint is in use, for the first time or again. */
  ready(): void;
  /** Not usable at its first start, and only a changed setting can help. The endpoint keeps probing. */
  unusable(error: NotUsable): void;
  /** The model must not be used, whatever else can be judged: see `ModelCheck`. */
  rejected(failure: Failure): void;
  /** The endpoint was taken out of use; these tasks need another one. */
  out(undone: readonly Task[]): void;
  /** Tasks left the backlog. */
  backlogTaken(): void;
  /** The guard proved that it judges. */
  judged(): void;
  /** A version was read; returns false when that model must not be used. */
  approveModel(reading: Reading): boolean;
  /** A bug in the client, for which neither the guard nor an item is to blame. */
  crashed(error: unknown): void;
}

/**
 * All events of one endpoint. There is one object per endpoint: the endpoint adds its own two handlers to the pool's
 * handlers, and shares the object with its dispatcher and the dispatcher's parts, so events are never relayed.
 */
export interface EndpointEvents extends PoolEvents {
  /** Tasks are sent again. */
  retried(cause: RetryCause): void;
  /** The endpoint must be taken out of use. Its dispatcher is stopped before this returns. */
  down(outage: Outage): void;
}
