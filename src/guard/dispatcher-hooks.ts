import { type ItemCode } from '../domain/item-error.ts';
import { type OutReason } from './call-error.ts';
import { type Reading } from './negotiate.ts';

export interface DispatcherOptions {
  /** The endpoint as recorded in outcomes. */
  readonly endpoint: string;
  readonly requestTimeoutMs: number;
}

/** What a dispatcher tells its endpoint. */
export interface DispatcherHooks {
  /** The guard judged something. */
  succeeded(): void;
  /** Something is sent again, and why. */
  retried(cause: ItemCode | 'MODEL_CHANGED'): void;
  /** A version reading; false when that model must not be used. */
  accept(reading: Reading): boolean;
  /** The endpoint is of no use any more; to be answered with `stop`. `reached`: see Fault. */
  down(reason: OutReason, fatal: boolean, reached: boolean): void;
  crashed(error: unknown): void;
}
