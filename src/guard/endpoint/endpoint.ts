import { setTimeout as sleep } from 'node:timers/promises';
import type { ItemCode } from '../../domain/item-error.ts';
import type { MediaKind } from '../../domain/request.ts';
import { backoffMs } from '../../flow/backoff.ts';
import type { OutReason } from '../protocol/call-error.ts';
import type { Connection, Reading } from '../protocol/connection.ts';
import type { DispatcherOptions, Outage } from './dispatcher-hooks.ts';
import { Dispatcher } from './dispatcher.ts';
import { type Judges, KnownProbes } from './known-probes.ts';
import { mayReturn, NotUsable } from '../protocol/not-usable.ts';
import type { Sent } from './sender.ts';
import type { Task } from '../tasks/task.ts';
import { type Signature, signatureOfMedia } from '../tensors/encode-request.ts';

const PROBE_BASE_MS = 200;
const PROBE_CAP_MS = 5000;

export type EndpointKind = 'triton' | 'rest';

/** One server at one address, and how to reach it. */
export interface EndpointTarget {
  /** As recorded in outcomes. */
  readonly name: string;
  readonly kind: EndpointKind;
  /** Whether a guard of this kind may take such requests, as far as that is known before it is asked. */
  readonly takes: (signature: Signature) => boolean;
  /** A connection of its own, so that a new one begins afresh. */
  readonly connect: () => Connection;
}

export type EndpointState =
  | { readonly name: 'ready' }
  | {
      readonly name: 'out';
      /** ISO 8601, UTC. */
      readonly since: string;
      readonly reason: OutReason;
      /** For people: the reason, and what exactly is wrong where that is known. */
      readonly detail: string;
      /** Whether only a changed setting can help. */
      readonly fatal: boolean;
    };

export interface EndpointStatus {
  readonly name: string;
  readonly kind: EndpointKind;
  readonly state: EndpointState;
  /** Items in requests that are under way. */
  readonly inFlight: number;
  /** Items waiting here to be sent, or answered and waiting for a version reading. */
  readonly queued: number;
  /** Id of the last fingerprint read; null before the first, and for a guard that tells none. */
  readonly fingerprint: string | null;
  readonly modelVersion: string | null;
  /** Requests answered with verdicts. */
  readonly successes: number;
  readonly sent: Sent;
  /** Requests sent again, by cause. */
  readonly retries: Readonly<Partial<Record<ItemCode | 'MODEL_CHANGED', number>>>;
}

export interface EndpointOptions extends Omit<DispatcherOptions, 'endpoint'> {
  /** Kinds of media that the pool was asked about. */
  readonly mediaAskedFor: ReadonlyMap<Signature, MediaKind>;
}

export interface EndpointHooks {
  ready(): void;
  /** Something was taken from the backlog. */
  taken(): void;
  /** Before it was ever ready: only a changed setting can help. It goes on being asked all the same. */
  unusable(error: NotUsable): void;
  /** Taken out; these tasks need another endpoint. */
  out(undone: readonly Task[]): void;
  succeeded(): void;
  /** A version reading, of a guard that tells its version; false when that model must not be used. */
  accept(reading: Reading): boolean;
  crashed(error: unknown): void;
}

/**
 * One guard at one address, in use or not. While it is in use a dispatcher works with it; when it fails it is taken
 * out, and asked at growing intervals until it is ready, negotiates and judges a harmless text again.
 */
export class Endpoint {
  readonly name: string;
  readonly #target: EndpointTarget;
  readonly #options: EndpointOptions;
  readonly #hooks: EndpointHooks;
  readonly #life = new AbortController();
  readonly #retries: Partial<Record<ItemCode | 'MODEL_CHANGED', number>> = {};
  #state: EndpointState;
  #connection: Connection | null = null;
  /** As it was when it was last in use. */
  #guard: KnownProbes | null = null;
  #dispatcher: Dispatcher | null = null;
  #reading: Reading | null = null;
  #successes = 0;
  /** In earlier times of use. */
  #sent: Sent = { requests: 0, rows: 0, room: 0, idleMs: 0 };
  /** Probes since the guard last judged something, so that one which comes and goes is asked ever less often. */
  #probes = 0;
  /** The last way into use, settled once it is over; never rejects. */
  #entering: Promise<void> = Promise.resolve();

  constructor(target: EndpointTarget, options: EndpointOptions, hooks: EndpointHooks) {
    this.name = target.name;
    this.#target = target;
    this.#options = options;
    this.#hooks = hooks;
    this.#state = outState('no connection', false);
  }

  get state(): EndpointState {
    return this.#state;
  }

  /** The dispatcher to give tasks to; null while the endpoint is out. */
  get dispatcher(): Dispatcher | null {
    return this.#dispatcher;
  }

  /** Whether it takes such requests, as far as is known. */
  takes(signature: Signature): boolean {
    return (this.#guard ?? this.#target).takes(signature);
  }

  /** Whether it judges media of a kind, as far as can be found out now. */
  async judges(kind: MediaKind): Promise<Judges> {
    if (this.#dispatcher !== null && this.#guard !== null) return this.#guard.judges(kind);
    return this.takes(signatureOfMedia(kind)) ? 'maybe' : 'not taken';
  }

  /** Rows it is allowed in flight, and those of a full request; zero while it is out. */
  get capacity(): { readonly rows: number; readonly batch: number } {
    if (this.#dispatcher === null || this.#guard === null) return { rows: 0, batch: 0 };
    const { concurrency, maxBatchSize } = this.#guard;
    return { rows: concurrency.limit, batch: Math.max(1, maxBatchSize) };
  }

  get status(): EndpointStatus {
    const inFlight = this.#dispatcher?.inFlight ?? 0;
    return {
      name: this.name,
      kind: this.#target.kind,
      state: this.#state,
      inFlight,
      queued: (this.#dispatcher?.load ?? 0) - inFlight,
      fingerprint: this.#reading?.fingerprint.id ?? null,
      modelVersion: this.#reading?.modelVersion ?? null,
      successes: this.#successes,
      sent: this.#dispatcher === null ? this.#sent : together(this.#sent, this.#dispatcher.sent),
      retries: { ...this.#retries },
    };
  }

  /** Resolves once the endpoint is in use, or closed. */
  async start(): Promise<void> {
    this.#beginToEnter(true, 0);
    await this.#entering;
  }

  /** Ends everything; the tasks that were not settled are the caller's. Safe to call twice. */
  async close(): Promise<Task[]> {
    this.#life.abort();
    const undone = this.#leave(null);
    await this.#entering;
    return undone;
  }

  #beginToEnter(first: boolean, afterMs: number): void {
    this.#entering = this.#enter(first, afterMs).catch((error: unknown) => this.#hooks.crashed(error));
  }

  async #enter(first: boolean, afterMs: number): Promise<void> {
    const { signal } = this.#life;
    if (afterMs > 0) await this.#pause(afterMs);
    while (!signal.aborted) {
      const connection = this.#target.connect();
      try {
        // An endpoint that failed has to show that it judges again.
        const { requestTimeoutMs, mediaAskedFor } = this.#options;
        const ready = await connection.open({ requestTimeoutMs, prove: !first, signal });
        const guard = new KnownProbes(ready, { timeoutMs: requestTimeoutMs, signal });
        // Media that wait are not for a guard that has no probe for them.
        await Promise.all([...mediaAskedFor.values()].map((kind) => guard.judges(kind)));
        // Closed after the last answer, when there was no call left to end.
        signal.throwIfAborted();
        this.#use(connection, guard);
        return;
      } catch (error) {
        connection.close();
        if (signal.aborted) return;
        if (!(error instanceof NotUsable)) throw error;
        // What was there before may be about to come back.
        const fatal = error.fatal && (first || !mayReturn(error.reason));
        this.#state = { ...outState(error.reason, fatal, error.message), since: this.#since() };
        if (first && fatal) this.#hooks.unusable(error);
      }
      await this.#pause(backoffMs(++this.#probes, PROBE_BASE_MS, PROBE_CAP_MS));
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#life.signal }).catch(() => {});
  }

  #use(connection: Connection, guard: KnownProbes): void {
    this.#guard = guard;
    if (guard.version !== null) {
      this.#reading = guard.version.first;
      if (!this.#hooks.accept(this.#reading)) {
        connection.close();
        return;
      }
    }
    this.#connection = connection;
    this.#dispatcher = new Dispatcher(
      guard,
      { endpoint: this.name, ...this.#options },
      {
        taken: () => this.#hooks.taken(),
        succeeded: () => {
          this.#successes++;
          this.#probes = 0;
          this.#hooks.succeeded();
        },
        retried: (cause) => (this.#retries[cause] = (this.#retries[cause] ?? 0) + 1),
        accept: (next) => {
          if (next.fingerprint.id !== this.#reading?.fingerprint.id) guard.forget();
          this.#reading = next;
          return this.#hooks.accept(next);
        },
        down: (why) => this.#takeOut(why),
        crashed: (error) => this.#hooks.crashed(error),
      },
    );
    this.#state = { name: 'ready' };
    this.#hooks.ready();
  }

  #takeOut(outage: Outage): void {
    if (this.#dispatcher === null) return;
    const { reason, fatal = false, leaveAloneMs = 0 } = outage;
    this.#state = outState(reason, fatal);
    const undone = this.#leave(outage);
    this.#beginToEnter(false, leaveAloneMs);
    this.#hooks.out(undone);
  }

  #leave(outage: Outage | null): Task[] {
    if (this.#dispatcher !== null) this.#sent = together(this.#sent, this.#dispatcher.sent);
    const undone = this.#dispatcher?.stop(outage) ?? [];
    this.#dispatcher = null;
    this.#connection?.close();
    this.#connection = null;
    return undone;
  }

  #since(): string {
    return this.#state.name === 'out' ? this.#state.since : new Date().toISOString();
  }
}

function together(a: Sent, b: Sent): Sent {
  return {
    requests: a.requests + b.requests,
    rows: a.rows + b.rows,
    room: a.room + b.room,
    idleMs: a.idleMs + b.idleMs,
  };
}

function outState(
  reason: OutReason,
  fatal: boolean,
  detail: string = reason,
): EndpointState & { name: 'out' } {
  return { name: 'out', since: new Date().toISOString(), reason, detail, fatal };
}
