import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { ItemError } from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { GuardRequest, OptionalKind } from '../../domain/request.ts';
import type { Say } from '../../domain/say.ts';
import type { EndpointStatus } from '../endpoint/endpoint-status.ts';
import type { StreamStart } from '../streams/generation-stream.ts';
import type { GuardStream } from '../streams/guard-stream.ts';

export interface JudgeOptions {
  /** Unique to this delivery of the shard; prefix of the guard's cache session ids. */
  readonly session: string;
  readonly signal: AbortSignal;
  /** Name of the preferred endpoint, used if it is ready and takes the request. Null or omitted for any. */
  readonly endpoint?: string | null;
}

export interface OpenStreamOptions extends StreamStart {
  /** Aborts the stream, not only its opening. */
  readonly signal: AbortSignal;
}

/** The guards of a run. */
export interface GuardPool {
  /**
   * Judges requests on the endpoints in use that take them; outcome i belongs to request i. While no endpoint is usable
   * it waits, up to `maxWaitMs` since the last verdict anywhere, then rejects with Failure('service'). A problem with
   * an item becomes that item's outcome: `judge` rejects only for a Failure or an abort. The turns of one conversation
   * (same `conversation`, same array of messages) must come in one call, in order.
   */
  judge(requests: readonly GuardRequest[], options: JudgeOptions): Promise<Outcome[]>;
  /**
   * The error that every item of this kind would end with, because no guard judges them: each one either does
   * not take them or has answered that it has no probe for them. Null while any guard may judge them. Each guard in use
   * is asked at most once per model. Rejects with the signal's reason.
   */
  notJudged(kind: OptionalKind, signal: AbortSignal): Promise<ItemError | null>;
  /**
   * Opens a moderation stream for a text that is still being generated, on the endpoint in use that supports streams
   * and has the fewest open. Rejects with `GuardStreamError`: UNIMPLEMENTED when no guard supports streams, UNAVAILABLE
   * when none that does is ready, RESOURCE_EXHAUSTED when each has reached its limit. Streams are not retried: a caller
   * can open another one and send the text again.
   */
  openStream(options: OpenStreamOptions): Promise<GuardStream>;
  /** Every fingerprint seen so far, by id. */
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  /** The last checks that the models passed; none without a `ModelCheck`. */
  readonly canaries: readonly CanaryCheck[];
  /**
   * Makes the models in use repeat their checks. Rejects with the signal's reason, and with Failure('service') when a
   * model does not pass, as all calls then do.
   */
  checkAgain(signal: AbortSignal): Promise<void>;
  /**
   * Ids of the current models of the endpoints in use, from version readings that begin after this call and are shared
   * by concurrent calls. Empty when none is in use, or none names its model. Rejects with the signal's reason.
   */
  readModels(signal: AbortSignal): Promise<readonly string[]>;
  status(): EndpointStatus[];
  /** Items in the backlog, which waits for any endpoint. */
  readonly waiting: number;
  /** Calls the listener whenever an endpoint goes out of use or becomes ready. Returns the function that removes it. */
  onStateChange(listener: (endpoints: readonly EndpointStatus[]) => void): () => void;
  /** Ends all calls and connections; pending `judge` calls reject. Idempotent. */
  close(): Promise<void>;
}

/** Notifies once when a guard that was in use goes out of use, and once when it is back. */
export function sayChanges(pool: GuardPool, say: Say): void {
  const wasReady = new Map<string, boolean>();
  const look = (endpoints: readonly EndpointStatus[]): void => {
    for (const { name, state } of endpoints) {
      const before = wasReady.get(name);
      const isReady = state.name === 'ready';
      if (before === undefined && !isReady) continue;
      wasReady.set(name, isReady);
      if (before === undefined || before === isReady) continue;
      const out = { level: 'warn', event: 'guard_out', guard: name } as const;
      if (state.name === 'ready') say(`guard ${name} is ready again`, { event: 'guard_ready', guard: name });
      else say(`guard ${name} is out: ${state.reason}`, { ...out, code: state.reason });
    }
  };
  look(pool.status());
  pool.onStateChange(look);
}
