import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../domain/failure.ts';
import type { Modality } from '../../domain/request.ts';
import { backoffMs } from '../../flow/backoff.ts';
import type { OutReason } from '../protocol/call-error.ts';
import type { CallOptions, Connection } from '../protocol/connection.ts';
import { mayReturn, NotUsable } from '../protocol/not-usable.ts';
import type { Task } from '../tasks/task.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import type { EndpointKind, EndpointState, EndpointStatus } from './endpoint-status.ts';
import type { EndpointEvents, Outage, PoolEvents, RetryCause } from './events.ts';
import { type Judges, ProbingGuard } from './probing-guard.ts';
import { EndpointChecks, type ModelCheck } from './model-check.ts';
import { NOTHING_SENT, type Sent, sumOfSent } from './sent-meter.ts';

/** Backoff between probes of an endpoint that is out of use. */
const PROBE_BASE_MS = 200;
const PROBE_CAP_MS = 5000;

/** One server at one address, and how to reach it. */
export interface EndpointTarget {
  /** Its name in outcomes. */
  readonly name: string;
  readonly kind: EndpointKind;
  /** Whether a guard of this kind may take such requests, as far as is known before asking it. */
  readonly takes: (requestKind: RequestKind) => boolean;
  /** Creates a connection that shares nothing with earlier ones. */
  readonly connect: () => Connection;
}

interface EndpointOptions extends Omit<DispatcherOptions, 'endpoint' | 'heldWhenChanged'> {
  /** Kinds of requests that the pool was asked about. */
  readonly askedFor: ReadonlySet<RequestKind>;
  /** Null to use models unchecked. */
  readonly modelCheck: ModelCheck | null;
  /** Modalities that the pool has to judge. */
  readonly modalities: ReadonlySet<Modality>;
}

/**
 * One guard at one address. It is `ready` while a dispatcher works with it, else `out`:
 *
 *             start()                 probe succeeds: #use()
 *   (new) ──────────────► out ◄──┐ ─────────────────────────► ready
 *                          │     │                              │
 *                          └─────┘ probe fails: backoff         │ down(outage): #takeOut()
 *                          ▲                                    │
 *                          └────────────────────────────────────┘
 *
 * A probe connects, negotiates and reads the version; after an outage the guard must also judge a harmless text. A
 * model that the endpoint did not serve before must also pass the `ModelCheck`; if there is one, an endpoint whose
 * model changes while it is ready goes out. `fatal` in `out` means that only a changed setting can help; it is still
 * probed. `close()` ends either state.
 */
export class Endpoint {
  readonly name: string;
  readonly #target: EndpointTarget;
  readonly #options: EndpointOptions;
  readonly #events: EndpointEvents;
  readonly #life = new AbortController();
  readonly #checks: EndpointChecks;
  /** The last check while in use: resolves when it ends, never rejects. */
  #checking: Promise<void> = Promise.resolve();
  readonly #retries: Partial<Record<RetryCause, number>> = {};
  #state: EndpointState;
  #connection: Connection | null = null;
  /** The guard of the last period of use. */
  #guard: ProbingGuard | null = null;
  #dispatcher: Dispatcher | null = null;
  /** Successes in earlier periods of use. */
  #successes = 0;
  #sent: Sent = NOTHING_SENT;
  /** Probes since the guard last judged something, so the backoff of a flapping guard keeps growing. */
  #probes = 0;
  /** The last sequence of probes: resolves when it ends, never rejects. */
  #entering: Promise<void> = Promise.resolve();

  constructor(target: EndpointTarget, options: EndpointOptions, events: PoolEvents) {
    this.name = target.name;
    this.#target = target;
    this.#options = options;
    this.#checks = new EndpointChecks(target.name, options.modelCheck, options.modalities);
    this.#events = {
      ...events,
      retried: (cause) => (this.#retries[cause] = (this.#retries[cause] ?? 0) + 1),
      down: (outage) => this.#takeOut(outage),
    };
    this.#state = outState('no connection', false);
  }

  get state(): EndpointState {
    return this.#state;
  }

  /** Null while the endpoint is out. */
  get dispatcher(): Dispatcher | null {
    return this.#dispatcher;
  }

  /** Whether the guard takes such requests, as far as is known. */
  takes(requestKind: RequestKind): boolean {
    return (this.#guard ?? this.#target).takes(requestKind);
  }

  /** Whether the guard judges requests of a kind, as far as can be determined now. */
  async judges(requestKind: RequestKind): Promise<Judges> {
    if (this.#dispatcher !== null && this.#guard !== null) return this.#guard.judges(requestKind);
    return this.takes(requestKind) ? 'maybe' : 'not taken';
  }

  /**
   * Checks the model in use for every modality requested so far, and takes the endpoint out of use if a check fails.
   * Never rejects. An endpoint that is out of use is checked before it is used.
   */
  check(): Promise<void> {
    return this.#checkInUse((guard, options) =>
      this.#checks.pass(guard, guard.version?.first.fingerprint.id ?? null, options),
    );
  }

  /** Repeats the checks that the model in use has passed. Never rejects. */
  checkAgain(): Promise<void> {
    return this.#checkInUse((guard, options) => this.#checks.repeat(guard, options));
  }

  /** Max rows in flight, and rows of a full request. Zero while the endpoint is out. */
  get capacity(): { readonly rows: number; readonly batch: number } {
    if (this.#dispatcher === null || this.#guard === null) return { rows: 0, batch: 0 };
    const { concurrency, maxBatchSize } = this.#guard;
    return { rows: concurrency.limit, batch: Math.max(1, maxBatchSize) };
  }

  get status(): EndpointStatus {
    const inFlight = this.#dispatcher?.inFlight ?? 0;
    const reading = this.#guard?.reading;
    return {
      name: this.name,
      kind: this.#target.kind,
      state: this.#state,
      inFlight,
      queued: (this.#dispatcher?.load ?? 0) - inFlight,
      fingerprint: reading?.fingerprint.id ?? null,
      modelVersion: reading?.modelVersion ?? null,
      successes: this.#successes + (this.#dispatcher?.health.successes ?? 0),
      answeredAt: this.#dispatcher?.health.answeredAt ?? null,
      sent: this.#dispatcher === null ? this.#sent : sumOfSent(this.#sent, this.#dispatcher.sent),
      retries: { ...this.#retries },
    };
  }

  /** Resolves once the endpoint is in use, or closed. */
  async start(): Promise<void> {
    this.#startProbing(true, 0);
    await this.#entering;
  }

  /** Ends everything, and returns the tasks that were not settled. Idempotent. */
  async close(): Promise<Task[]> {
    this.#life.abort();
    const undone = this.#leave(null);
    await Promise.all([this.#entering, this.#checking]);
    return undone;
  }

  #startProbing(first: boolean, afterMs: number): void {
    this.#entering = this.#enter(first, afterMs).catch((error: unknown) => this.#events.crashed(error));
  }

  async #enter(first: boolean, afterMs: number): Promise<void> {
    const { signal } = this.#life;
    if (afterMs > 0) await this.#pause(afterMs);
    while (!signal.aborted) {
      const connection = this.#target.connect();
      try {
        const { requestTimeoutMs, askedFor } = this.#options;
        const ready = await connection.open({ requestTimeoutMs, prove: !first, signal });
        const guard = new ProbingGuard(ready, { timeoutMs: requestTimeoutMs, signal });
        // Before any waiting request can be sent to a guard that does not judge its kind.
        await Promise.all([...askedFor].map((requestKind) => guard.judges(requestKind)));
        const model = guard.reading?.fingerprint.id ?? null;
        if (guard.reading !== null && !this.#events.approveModel(guard.reading)) {
          connection.close();
          return;
        }
        const options = { timeoutMs: requestTimeoutMs, signal };
        while (!this.#checks.isPassed(model)) await this.#checks.pass(guard, model, options);
        // `close` may have been called after the last reply, when there was no call left to abort.
        signal.throwIfAborted();
        this.#use(connection, guard);
        return;
      } catch (error) {
        connection.close();
        if (signal.aborted) return;
        if (error instanceof Failure) {
          this.#state = outState('failed its canaries', true);
          this.#events.rejected(error);
          return;
        }
        if (!(error instanceof NotUsable)) throw error;
        // A model or path that existed before may come back.
        const fatal = error.fatal && (first || !mayReturn(error.reason));
        this.#state = { ...outState(error.reason, fatal, error.message), since: this.#since() };
        if (first && fatal) this.#events.unusable(error);
      }
      await this.#pause(backoffMs(++this.#probes, PROBE_BASE_MS, PROBE_CAP_MS));
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#life.signal }).catch(() => {});
  }

  #use(connection: Connection, guard: ProbingGuard): void {
    this.#guard = guard;
    this.#connection = connection;
    this.#dispatcher = new Dispatcher(
      guard,
      { endpoint: this.name, heldWhenChanged: this.#options.modelCheck !== null, ...this.#options },
      this.#events,
    );
    this.#state = { name: 'ready' };
    this.#events.ready();
  }

  /** Runs a check of the model in use, after the previous check. */
  #checkInUse(check: (guard: ProbingGuard, options: CallOptions) => Promise<void>): Promise<void> {
    this.#checking = this.#checking.then(() => this.#runCheck(check));
    return this.#checking;
  }

  async #runCheck(check: (guard: ProbingGuard, options: CallOptions) => Promise<void>): Promise<void> {
    const [dispatcher, guard] = [this.#dispatcher, this.#guard];
    if (dispatcher === null || guard === null) return;
    const { signal } = this.#life;
    try {
      await check(guard, { timeoutMs: this.#options.requestTimeoutMs, signal });
    } catch (error) {
      // The endpoint has gone out of use since, and is checked before it is used again.
      if (signal.aborted || this.#dispatcher !== dispatcher) return;
      if (error instanceof NotUsable) this.#takeOut({ reason: error.reason, fatal: error.fatal });
      else if (error instanceof Failure) this.#events.rejected(error);
      else this.#events.crashed(error);
    }
  }

  #takeOut(outage: Outage): void {
    if (this.#dispatcher === null) return;
    const { reason, fatal = false, retryAfterMs = 0 } = outage;
    this.#state = outState(reason, fatal);
    const undone = this.#leave(outage);
    this.#startProbing(false, retryAfterMs);
    this.#events.out(undone);
  }

  #leave(outage: Outage | null): Task[] {
    const undone = this.#dispatcher === null ? [] : this.#stopDispatcher(this.#dispatcher, outage);
    this.#dispatcher = null;
    this.#connection?.close();
    this.#connection = null;
    return undone;
  }

  #stopDispatcher(dispatcher: Dispatcher, outage: Outage | null): Task[] {
    this.#sent = sumOfSent(this.#sent, dispatcher.sent);
    this.#successes += dispatcher.health.successes;
    if (dispatcher.health.successes > 0) this.#probes = 0;
    return dispatcher.stop(outage);
  }

  /** When it went out of use: failed probes before that do not count. */
  #since(): string {
    return this.#state.name === 'out' ? this.#state.since : new Date().toISOString();
  }
}

function outState(
  reason: OutReason,
  fatal: boolean,
  detail: string = reason,
): EndpointState & { name: 'out' } {
  return { name: 'out', since: new Date().toISOString(), reason, detail, fatal };
}
