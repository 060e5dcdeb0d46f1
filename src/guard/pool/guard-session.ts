import type { Say } from '../../domain/say.ts';
import type { GuardPool } from './pool.ts';

/** Connected guards, and the processes behind them. */
export interface GuardSession {
  readonly pool: GuardPool;
  /** Aborts with a Failure when the embedded guard dies. */
  readonly died: AbortSignal;
  /** Closes the connections, then stops the embedded guard. Idempotent. */
  close(): Promise<void>;
}

/** Connects to guards; rejects with Failure('service') when none becomes usable. `say` takes one message for users. */
export type OpenGuards = (signal: AbortSignal, say: Say) => Promise<GuardSession>;
