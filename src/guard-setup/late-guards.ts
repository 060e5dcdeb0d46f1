import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { CanaryCheck } from '../domain/canary/canary-check.ts';
import { Failure } from '../domain/failure.ts';
import type { Fingerprint } from '../domain/fingerprint.ts';
import type { ItemError } from '../domain/item-error.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { GuardRequest, OptionalKind } from '../domain/request.ts';
import { abortable } from '../flow/abortable.ts';
import type { EndpointStatus } from '../guard/endpoint/endpoint-status.ts';
import { NOTHING_SENT } from '../guard/endpoint/sent-meter.ts';
import type { GuardSession, OpenGuards } from '../guard/pool/guard-session.ts';
import type { GuardPool, JudgeOptions, OpenStreamOptions } from '../guard/pool/pool.ts';
import { transportOf } from '../guard/transports/transports.ts';
import { GuardStreamError } from '../guard/streams/guard-stream-error.ts';
import type { GuardStream } from '../guard/streams/guard-stream.ts';

/** Pause after an attempt to connect that failed, in milliseconds. */
const RETRY_MS = 5000;

interface LateGuardsOptions {
  /** As configured; none: no guard is ever ready. */
  readonly urls: readonly string[];
  /** Connects to them; each call is one attempt. */
  readonly open: OpenGuards;
  /** Takes one line for people. */
  readonly say: (line: string) => void;
}

/**
 * The guards of a server that starts without waiting for them, as one pool. Until they are connected, none is ready, and
 * what is asked of them waits.
 *
 * ```
 * connecting ── a guard is usable ──► connected
 *   │    ▲ └─── a wrong setting ────► failed: `died` aborts
 *   ▼    │
 *  5 s pause, after any other failure
 * ```
 */
export class LateGuards implements GuardPool, GuardSession {
  readonly #options: LateGuardsOptions;
  readonly #events = new EventEmitter();
  readonly #closing = new AbortController();
  readonly #died = new AbortController();
  readonly #since = new Date().toISOString();
  readonly #connected: Promise<GuardPool>;
  readonly #connecting: Promise<void>;
  #session: GuardSession | null = null;
  /** Why the last attempt failed, for people. */
  #problem = 'not connected yet';

  constructor(options: LateGuardsOptions) {
    this.#options = options;
    this.#events.setMaxListeners(0);
    this.#connected = new Promise((resolve) => this.#events.once('connected', resolve));
    this.#connecting = options.urls.length === 0 ? Promise.resolve() : this.#connect();
  }

  get pool(): GuardPool {
    return this;
  }

  /** Aborts with a Failure when the embedded guard dies, and when a setting must be changed before it can connect. */
  get died(): AbortSignal {
    return this.#died.signal;
  }

  get fingerprints(): ReadonlyMap<string, Fingerprint> {
    return this.#session?.pool.fingerprints ?? new Map();
  }

  get canaries(): readonly CanaryCheck[] {
    return this.#session?.pool.canaries ?? [];
  }

  get waiting(): number {
    return this.#session?.pool.waiting ?? 0;
  }

  async judge(requests: readonly GuardRequest[], options: JudgeOptions): Promise<Outcome[]> {
    return (await abortable(this.#connected, options.signal)).judge(requests, options);
  }

  async notJudged(kind: OptionalKind, signal: AbortSignal): Promise<ItemError | null> {
    return (await abortable(this.#connected, signal)).notJudged(kind, signal);
  }

  async openStream(options: OpenStreamOptions): Promise<GuardStream> {
    if (this.#session === null) throw new GuardStreamError('UNAVAILABLE', 'no guard is ready');
    return this.#session.pool.openStream(options);
  }

  async readModels(signal: AbortSignal): Promise<readonly string[]> {
    return (await abortable(this.#connected, signal)).readModels(signal);
  }

  status(): EndpointStatus[] {
    return this.#session?.pool.status() ?? this.#options.urls.map((url) => this.#notConnected(url));
  }

  onStateChange(listener: (endpoints: readonly EndpointStatus[]) => void): () => void {
    this.#events.on('change', listener);
    return () => this.#events.off('change', listener);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connecting;
    await this.#session?.close();
  }

  async #connect(): Promise<void> {
    const { open, say } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted && !this.died.aborted) {
      try {
        this.#use(await open(signal, say));
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Failure && error.kind === 'service') this.#failed(error);
        else this.#died.abort(error);
      }
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  #use(session: GuardSession): void {
    const { pool, died } = session;
    this.#session = session;
    died.addEventListener('abort', () => this.#died.abort(died.reason), { once: true });
    if (died.aborted) this.#died.abort(died.reason);
    pool.onStateChange((endpoints) => this.#events.emit('change', endpoints));
    this.#events.emit('connected', pool);
    this.#events.emit('change', pool.status());
  }

  #failed({ message }: Failure): void {
    // Each attempt fails in the same way while nothing changes.
    if (message !== this.#problem) this.#options.say(`${message}; trying again`);
    this.#problem = message;
    this.#events.emit('change', this.status());
  }

  #notConnected(url: string): EndpointStatus {
    return {
      name: url,
      kind: transportOf({ name: url, address: url }).kind,
      state: {
        name: 'out',
        since: this.#since,
        reason: 'no connection',
        detail: this.#problem,
        fatal: false,
      },
      inFlight: 0,
      queued: 0,
      fingerprint: null,
      modelVersion: null,
      successes: 0,
      sent: NOTHING_SENT,
      retries: {},
    };
  }
}
