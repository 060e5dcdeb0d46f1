import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceDefinition } from '@grpc/grpc-js';
import { type ItemCode } from '../domain/item-error.ts';
import { type GuardTarget } from './address.ts';
import { backoffMs } from './backoff.ts';
import { type OutReason } from './call-error.ts';
import { tryHarmlessText } from './canary.ts';
import { GuardChannel } from './channel.ts';
import { InstanceConcurrency } from './concurrency.ts';
import { Dispatcher } from './dispatcher.ts';
import { negotiate, type Negotiated, notUsable, NotUsable, type Reading, readVersion } from './negotiate.ts';
import { type Task } from './task.ts';

/** Longest wait for an answer to a question of readiness. */
const PROBE_TIMEOUT_MS = 5000;
const PROBE_BASE_MS = 200;
const PROBE_CAP_MS = 5000;

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
  readonly kind: 'triton';
  readonly state: EndpointState;
  /** Items in requests that are under way. */
  readonly inFlight: number;
  /** Items waiting here to be sent, or answered and waiting for a version reading. */
  readonly queued: number;
  /** Id of the last fingerprint read; null before the first. */
  readonly fingerprint: string | null;
  readonly modelVersion: string | null;
  /** Requests answered with verdicts. */
  readonly successes: number;
  /** Requests sent again, by cause. */
  readonly retries: Readonly<Partial<Record<ItemCode | 'MODEL_CHANGED', number>>>;
}

export interface EndpointOptions {
  readonly requestTimeoutMs: number;
  readonly token: string | null;
}

export interface EndpointHooks {
  ready(): void;
  /** Before it was ever ready: only a changed setting can help. It goes on being asked all the same. */
  unusable(error: NotUsable): void;
  /** Taken out; these tasks need another endpoint. */
  out(undone: readonly Task[]): void;
  succeeded(): void;
  /** A version reading; false when that model must not be used. */
  accept(reading: Reading): boolean;
  crashed(error: unknown): void;
}

/**
 * One guard at one address, in use or not. While it is in use a dispatcher works with it; when it fails it is taken
 * out, and asked at growing intervals until it is ready, negotiates and judges a harmless text again.
 */
export class Endpoint {
  readonly name: string;
  readonly #target: GuardTarget;
  readonly #service: ServiceDefinition;
  readonly #options: EndpointOptions;
  readonly #hooks: EndpointHooks;
  readonly #life = new AbortController();
  readonly #retries: Partial<Record<ItemCode | 'MODEL_CHANGED', number>> = {};
  #state: EndpointState;
  #channel: GuardChannel | null = null;
  #dispatcher: Dispatcher | null = null;
  #reading: Reading | null = null;
  #successes = 0;
  /** Probes since the guard last judged something, so that one which comes and goes is asked ever less often. */
  #probes = 0;
  /** The last way into use, settled once it is over; never rejects. */
  #entering: Promise<void> = Promise.resolve();

  constructor(
    target: GuardTarget,
    service: ServiceDefinition,
    options: EndpointOptions,
    hooks: EndpointHooks,
  ) {
    this.name = target.name;
    this.#target = target;
    this.#service = service;
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

  get status(): EndpointStatus {
    const inFlight = this.#dispatcher?.inFlight ?? 0;
    return {
      name: this.name,
      kind: 'triton',
      state: this.#state,
      inFlight,
      queued: (this.#dispatcher?.load ?? 0) - inFlight,
      fingerprint: this.#reading?.fingerprint.id ?? null,
      modelVersion: this.#reading?.modelVersion ?? null,
      successes: this.#successes,
      retries: { ...this.#retries },
    };
  }

  /** Resolves once the endpoint is in use, or closed. */
  async start(): Promise<void> {
    this.#beginToEnter(true);
    await this.#entering;
  }

  /** Ends everything; the tasks that were not settled are the caller's. Safe to call twice. */
  async close(): Promise<Task[]> {
    this.#life.abort();
    const undone = this.#leave(false);
    await this.#entering;
    return undone;
  }

  #beginToEnter(first: boolean): void {
    this.#entering = this.#enter(first).catch((error: unknown) => this.#hooks.crashed(error));
  }

  async #enter(first: boolean): Promise<void> {
    const { signal } = this.#life;
    while (!signal.aborted) {
      const channel = new GuardChannel(this.#target.address, this.#service, this.#options.token);
      try {
        const { model, reading } = await this.#probe(channel, first);
        // Closed after the last answer, when there was no call left to end.
        signal.throwIfAborted();
        this.#use(channel, model, reading);
        return;
      } catch (error) {
        channel.close();
        if (signal.aborted) return;
        if (!(error instanceof NotUsable)) throw error;
        // A model that was there before may be reloading.
        const fatal = error.fatal && (first || error.reason !== 'unknown model');
        this.#state = { ...outState(error.reason, fatal, error.message), since: this.#since() };
        if (first && fatal) this.#hooks.unusable(error);
      }
      await sleep(backoffMs(++this.#probes, PROBE_BASE_MS, PROBE_CAP_MS), undefined, { signal }).catch(
        () => {},
      );
    }
  }

  async #probe(
    channel: GuardChannel,
    first: boolean,
  ): Promise<{ readonly model: Negotiated; readonly reading: Reading }> {
    const { signal } = this.#life;
    const model = await negotiate(channel, { timeoutMs: PROBE_TIMEOUT_MS, signal });
    const options = { timeoutMs: this.#options.requestTimeoutMs, signal };
    let reading: Reading;
    try {
      reading = await readVersion(channel, model, options);
    } catch (error) {
      throw notUsable(error, options);
    }
    // An endpoint that failed has to show that it judges again, or it would come and go without end.
    const canary = first ? null : await tryHarmlessText(channel, model, options);
    if (canary?.kind === 'failed') throw new NotUsable(canary.reason, canary.fatal);
    if (canary?.kind === 'shared-failure') throw new NotUsable('fails on harmless text', false);
    return { model, reading };
  }

  #use(channel: GuardChannel, model: Negotiated, reading: Reading): void {
    this.#reading = reading;
    if (!this.#hooks.accept(reading)) {
      channel.close();
      return;
    }
    this.#channel = channel;
    this.#dispatcher = new Dispatcher(
      channel,
      model,
      new InstanceConcurrency(model.instances, model.maxBatchSize),
      reading,
      { endpoint: this.name, requestTimeoutMs: this.#options.requestTimeoutMs },
      {
        succeeded: () => {
          this.#successes++;
          this.#probes = 0;
          this.#hooks.succeeded();
        },
        retried: (cause) => (this.#retries[cause] = (this.#retries[cause] ?? 0) + 1),
        accept: (next) => {
          this.#reading = next;
          return this.#hooks.accept(next);
        },
        down: (reason, fatal, reached) => this.#takeOut(reason, fatal, reached),
        crashed: (error) => this.#hooks.crashed(error),
      },
    );
    this.#state = { name: 'ready' };
    this.#hooks.ready();
  }

  #takeOut(reason: OutReason, fatal: boolean, reached: boolean): void {
    if (this.#dispatcher === null) return;
    this.#state = outState(reason, fatal);
    const undone = this.#leave(reached);
    this.#beginToEnter(false);
    this.#hooks.out(undone);
  }

  #leave(reached: boolean): Task[] {
    const undone = this.#dispatcher?.stop(reached) ?? [];
    this.#dispatcher = null;
    this.#channel?.close();
    this.#channel = null;
    return undone;
  }

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
