import { Failure } from '../../domain/failure.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { ItemError } from '../../domain/item-error.ts';
import type { GuardRequest, MediaKind } from '../../domain/request.ts';
import type { GuardEndpoint } from '../protocol/address.ts';
import type { EndpointStatus } from '../endpoint/endpoint.ts';
import { endpointTargets } from './endpoint-targets.ts';
import { LivePool } from './live-pool.ts';

export { type GuardEndpoint } from '../protocol/address.ts';
export { type EndpointKind, type EndpointState, type EndpointStatus } from '../endpoint/endpoint.ts';

export interface PoolOptions {
  /** Fingerprint id that every guard must have; null: any. No guard over REST has one. */
  readonly expectFingerprint: string | null;
  /** How long requests wait while no guard is of use, in milliseconds since the last verdict or the return of a guard. */
  readonly maxWaitMs: number;
  /** How long to wait for guards when connecting, in milliseconds. Default 30 000. */
  readonly startTimeoutMs?: number;
  /** Takes one line for people when connecting takes long. */
  readonly say?: (message: string) => void;
  /** Longest time for one request to the guard, in milliseconds. Default 60 000. */
  readonly requestTimeoutMs?: number;
  /** Bearer token or key to send to an endpoint; null or left out: none. */
  readonly token?: (endpoint: GuardEndpoint) => string | null;
}

export interface JudgeOptions {
  /** Unique to this delivery of the shard; begins the guard's cache session ids. */
  readonly session: string;
  readonly signal: AbortSignal;
  /** Name of the endpoint that is to judge them if it is in use and takes them; null or left out: any. */
  readonly endpoint?: string | null;
}

const START_TIMEOUT_MS = 30_000;
/** Longest wait for the addresses of a name; part of the start's time. */
const LOOKUP_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 60_000;

/** The guards of a run. */
export interface GuardPool {
  /**
   * Judges requests on the endpoints in use that take them; outcome i belongs to request i. While no
   * endpoint is of use it waits, up to `maxWaitMs` since the last verdict anywhere, then rejects with
   * Failure('service'). Everything wrong with an item is its outcome: it rejects for a Failure or an abort only.
   * Turns of one conversation (`conversation` set, one array of messages) must come in one call, in order.
   */
  judge(requests: readonly GuardRequest[], options: JudgeOptions): Promise<Outcome[]>;
  /**
   * Why media of this kind need not be brought before the guards, since none judges them: each takes none, or has said
   * that it has no probe for them. Null while one of them judges them, or may. Each guard in use is asked at most once,
   * and again when its model changes. Rejects with the signal's reason.
   */
  notJudged(kind: MediaKind, signal: AbortSignal): Promise<ItemError | null>;
  /** Every fingerprint seen so far, by id. */
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  status(): EndpointStatus[];
  /** Items that wait for any endpoint with room for them. */
  readonly waiting: number;
  /** Calls the listener whenever an endpoint is taken out or comes back; returns the function that ends that. */
  onStateChange(listener: (endpoints: readonly EndpointStatus[]) => void): () => void;
  /** Ends all calls and connections; what is still being judged rejects. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Connects to every guard and waits until they are ready and negotiated. Those that cannot be reached are left to
 * be asked again later, as long as one is ready: the others have 5 s more, none ready within `startTimeoutMs` is a
 * Failure('service'). So is, at once, any guard that needs a changed setting: wrong key, unknown model, tensors that
 * are not the contract's, another fingerprint than expected. A guard over REST, of which no fingerprint can be expected,
 * is a Failure('usage') when one is. Rejects with the signal's reason when aborted.
 */
export async function connectGuards(
  endpoints: readonly GuardEndpoint[],
  options: PoolOptions,
  signal: AbortSignal,
): Promise<GuardPool> {
  if (endpoints.length === 0) throw new Failure('usage', 'no guard is named');
  signal.throwIfAborted();
  const begunAt = performance.now();
  const startTimeoutMs = options.startTimeoutMs ?? START_TIMEOUT_MS;
  const targets = await endpointTargets(endpoints, {
    expectFingerprint: options.expectFingerprint,
    token: options.token ?? (() => null),
    lookup: { timeoutMs: Math.min(LOOKUP_TIMEOUT_MS, startTimeoutMs), signal },
  });
  const pool = new LivePool(
    targets,
    options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    options.expectFingerprint,
    options.maxWaitMs,
  );
  try {
    await pool.start({ timeoutMs: startTimeoutMs, begunAt, say: options.say ?? (() => {}) }, signal);
    return pool;
  } catch (error) {
    await pool.close();
    throw error;
  }
}
