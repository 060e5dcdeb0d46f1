import { setMaxListeners } from 'node:events';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import { Failure } from '../../domain/failure.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import { type ItemError, itemError } from '../../domain/item-error.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { GuardRequest, Modality, OptionalKind } from '../../domain/request.ts';
import { abortable } from '../../flow/abortable.ts';
import { Admission } from '../../flow/admission.ts';
import { Endpoint, type EndpointTarget } from '../endpoint/endpoint.ts';
import type { EndpointStatus } from '../endpoint/endpoint-status.ts';
import type { Judges } from '../endpoint/probing-guard.ts';
import type { PoolEvents } from '../endpoint/events.ts';
import type { ModelCheck } from '../endpoint/model-check.ts';
import type { Reading } from '../protocol/connection.ts';
import type { Conversation } from '../tasks/conversation.ts';
import { Judging } from '../tasks/judging.ts';
import { messageOf, notTaken, type Task } from '../tasks/task.ts';
import { TaskQueue } from '../tasks/task-queue.ts';
import { type RequestKind, mediaRequestKind } from '../tensors/encode-request.ts';
import type { GuardStream } from '../streams/guard-stream.ts';
import { Placement, dispatcherForStream } from './placement.ts';
import type { GuardPool, JudgeOptions, OpenStreamOptions } from './pool.ts';
import { anyUsable, describeUnusable, noneUsable, PoolStart, type StartOptions } from './pool-start.ts';
import { ProgressWatch } from './progress-watch.ts';

/**
 * Max items in the pool, including answered ones that wait for a version reading; further calls wait. It limits memory:
 * the work that keeps the guards busy is limited by their capacity.
 */
const MAX_ITEMS = 65_536;

interface LivePoolOptions {
  readonly requestTimeoutMs: number;
  readonly expectFingerprint: string | null;
  /** If null, the pool never fails because no endpoint is usable. */
  readonly maxWaitMs: number | null;
  readonly stampVerdicts: boolean;
  readonly modelCheck: ModelCheck | null;
}

/**
 * A pool of endpoints with one shared backlog. Tasks of an endpoint that goes out of use return to the backlog. The
 * pool fails permanently when a guard has an unexpected fingerprint and, unless `maxWaitMs` is null, when no endpoint
 * becomes usable in time or none can without a changed setting.
 */
export class LivePool implements GuardPool {
  readonly #endpoints: readonly Endpoint[];
  readonly #expectFingerprint: string | null;
  readonly #fingerprints = new Map<string, Fingerprint>();
  readonly #listeners = new Set<(endpoints: readonly EndpointStatus[]) => void>();
  readonly #backlog = new TaskQueue();
  readonly #placement: Placement;
  readonly #admission = new Admission(MAX_ITEMS, (arriving) => this.#placement.hasRoom(arriving));
  /** Number of cache sessions created for conversations that are judged once. */
  #sessions = 0;
  readonly #start = new PoolStart();
  /** If null, the pool waits without limit. */
  readonly #watch: ProgressWatch | null;
  /** Calls of `judge` that have no answer yet. */
  readonly #live = new Set<Judging>();
  readonly #askedFor = new Set<RequestKind>();
  readonly #modelCheck: ModelCheck | null;
  /** Modalities to judge, in which every model is checked. */
  readonly #modalities = new Set<Modality>(['text']);
  /** Checks of the models in use, by modality. */
  readonly #checked = new Map<Modality, Promise<unknown>>([['text', Promise.resolve()]]);
  #failure: Failure | null = null;

  constructor(targets: readonly EndpointTarget[], options: LivePoolOptions) {
    const { requestTimeoutMs, expectFingerprint, maxWaitMs, stampVerdicts, modelCheck } = options;
    this.#modelCheck = modelCheck;
    this.#expectFingerprint = expectFingerprint;
    const endpointOptions = {
      requestTimeoutMs,
      stampVerdicts,
      backlog: this.#backlog,
      isOneOfMany: () => this.#inUse > 1,
      askedFor: this.#askedFor,
      modelCheck,
      modalities: this.#modalities,
    };
    this.#endpoints = targets.map(
      (target) => new Endpoint(target, endpointOptions, this.#eventsOf(target.name)),
    );
    this.#placement = new Placement(this.#backlog, this.#endpoints);
    this.#watch =
      maxWaitMs === null
        ? null
        : new ProgressWatch({
            maxWaitMs,
            usable: () => anyUsable(this.#endpoints),
            unservedSince: () => this.#placement.unservedSince,
            expired: () => this.#fail(noneUsable(this.#endpoints, maxWaitMs)),
          });
  }

  #eventsOf(endpoint: string): PoolEvents {
    return {
      ready: () => this.#ready(),
      unusable: (error) => {
        const failure = new Failure('service', `guard ${endpoint}: ${error.message}`, { cause: error });
        this.#start.refuse(failure);
      },
      rejected: (failure) => this.#fail(failure),
      out: (undone) => this.#out(undone),
      backlogTaken: () => this.#admission.admit(),
      judged: () => this.#watch?.judged(),
      approveModel: (reading) => this.#approveModel(endpoint, reading),
      crashed: (error) => this.#fail(new Failure('internal', 'the guard client failed', { cause: error })),
    };
  }

  get fingerprints(): ReadonlyMap<string, Fingerprint> {
    return this.#fingerprints;
  }

  get canaries(): readonly CanaryCheck[] {
    return this.#modelCheck?.checks ?? [];
  }

  /** Waits as `connectGuards` describes. */
  async start(options: StartOptions, signal: AbortSignal): Promise<void> {
    await this.#start.run(this.#endpoints, options, signal);
  }

  async judge(requests: readonly GuardRequest[], options: JudgeOptions): Promise<Outcome[]> {
    const { signal } = options;
    signal.throwIfAborted();
    if (requests.length === 0) return [];
    // Many shards are judged at a time under one signal.
    setMaxListeners(0, signal);
    // Before any of them can be sent to a guard without streams.
    if (requests.some(({ requestType }) => requestType === 'generation')) {
      await this.#judges('generation', signal);
    }
    if (this.#modelCheck !== null) await this.#checkModels(requests, signal);
    const permit = await this.#admission.enter(requests.length, signal);
    const judging = new Judging(requests, options.session, () => this.#sessions++);
    const abort = (): void => {
      judging.fail(signal.reason);
      this.#sweep();
    };
    try {
      // The call may have been aborted, or the pool may have failed, since admission.
      signal.throwIfAborted();
      if (this.#failure !== null) throw this.#failure;
      signal.addEventListener('abort', abort, { once: true });
      if (this.#live.size === 0) this.#watch?.start();
      this.#live.add(judging);
      this.#placement.place(judging.tasks, options.endpoint ?? null);
      permit.begun();
      return await judging.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#live.delete(judging);
      if (this.#live.size === 0) this.#watch?.stop();
      permit.release();
    }
  }

  async notJudged(kind: OptionalKind, signal: AbortSignal): Promise<ItemError | null> {
    const requestKind = 'requestType' in kind ? kind.requestType : mediaRequestKind(kind);
    const answers = await this.#judges(requestKind, signal);
    if (answers.includes('maybe')) return null;
    // Streams are not declared: a guard that has answered with an error does not support them.
    const isUnloaded = requestKind !== 'generation' && answers.includes('no probe');
    const message = isUnloaded ? messageOf('PROBE_NOT_LOADED') : notTaken(kind);
    return itemError('PROBE_NOT_LOADED', message);
  }

  async openStream({ signal, ...start }: OpenStreamOptions): Promise<GuardStream> {
    signal.throwIfAborted();
    await this.#judges('generation', signal);
    if (this.#failure !== null) throw this.#failure;
    return dispatcherForStream(this.#endpoints).streams.open(start, signal);
  }

  /** Whether each endpoint judges requests of a kind, in endpoint order. Rejects with the signal's reason. */
  #judges(requestKind: RequestKind, signal: AbortSignal): Promise<Judges[]> {
    this.#askedFor.add(requestKind);
    return abortable(Promise.all(this.#endpoints.map((endpoint) => endpoint.judges(requestKind))), signal);
  }

  /**
   * Must be called before any request of a modality is sent: the models in use are checked in it now, others before
   * they are used.
   */
  async #checkModels(requests: readonly GuardRequest[], signal: AbortSignal): Promise<void> {
    for (const modality of new Set(requests.map((request) => request.modality))) {
      let checked = this.#checked.get(modality);
      if (checked === undefined) {
        this.#modalities.add(modality);
        checked = Promise.all(this.#endpoints.map((endpoint) => endpoint.check()));
        this.#checked.set(modality, checked);
      }
      await abortable(checked, signal);
    }
  }

  async checkAgain(signal: AbortSignal): Promise<void> {
    await abortable(Promise.all(this.#endpoints.map((endpoint) => endpoint.checkAgain())), signal);
    if (this.#failure !== null) throw this.#failure;
  }

  async readModels(signal: AbortSignal): Promise<readonly string[]> {
    const read = this.#endpoints.flatMap(({ dispatcher }) => dispatcher?.readModel() ?? []);
    const models = await abortable(Promise.all(read), signal);
    return [...new Set(models.filter((model) => model !== null))];
  }

  get waiting(): number {
    return this.#backlog.size;
  }

  status(): EndpointStatus[] {
    return this.#endpoints.map((endpoint) => endpoint.status);
  }

  onStateChange(listener: (endpoints: readonly EndpointStatus[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#fail(new Failure('interrupted', 'the guards were closed'));
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.close()));
  }

  get #inUse(): number {
    return this.#endpoints.filter(({ dispatcher }) => dispatcher !== null).length;
  }

  #ready(): void {
    this.#watch?.returned();
    this.#placement.serve();
    this.#admission.admit();
    this.#tellListeners();
  }

  #out(undone: readonly Task[]): void {
    const conversations = new Set<Conversation>();
    const tasks: Task[] = [];
    for (const task of undone) {
      if (task.conversation !== null) conversations.add(task.conversation);
      else if (task.state === 'idle') tasks.push(task);
    }
    for (const conversation of conversations) {
      const next = conversation.next();
      if (next !== null) tasks.push(next);
    }
    this.#placement.place(tasks, null);
    this.#admission.admit();
    this.#tellListeners();
    const hopeless = this.#endpoints.every(({ state }) => state.name === 'out' && state.fatal);
    if (hopeless && this.#watch !== null)
      this.#fail(new Failure('service', `no guard can be used: ${describeUnusable(this.#endpoints)}`));
  }

  #sweep(): void {
    this.#placement.sweep();
    this.#admission.admit();
  }

  #approveModel(endpoint: string, { fingerprint }: Reading): boolean {
    const expected = this.#expectFingerprint;
    if (expected !== null && fingerprint.id !== expected) {
      const found = `guard ${endpoint} has the fingerprint ${fingerprint.id}, expected was ${expected}`;
      this.#fail(new Failure('service', found));
      return false;
    }
    this.#fingerprints.set(fingerprint.id, fingerprint);
    return true;
  }

  /** Fails the pool permanently: every call rejects with the first failure. */
  #fail(failure: Failure): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.#start.refuse(failure);
    for (const judging of this.#live) judging.fail(failure);
    this.#sweep();
  }

  #tellListeners(): void {
    for (const listener of this.#listeners) listener(this.status());
  }
}
