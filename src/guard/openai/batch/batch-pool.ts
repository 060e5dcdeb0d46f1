import pLimit from 'p-limit';
import type { CanaryCheck } from '../../../domain/canary/canary-check.ts';
import { wholeCoverage } from '../../../domain/coverage.ts';
import type { Fingerprint } from '../../../domain/fingerprint.ts';
import { type ItemCode, type ItemError, itemError } from '../../../domain/item-error.ts';
import type { Outcome } from '../../../domain/outcome.ts';
import type { GuardRequest, Modality, OptionalKind } from '../../../domain/request.ts';
import type { EndpointStatus } from '../../endpoint/endpoint-status.ts';
import { NOTHING_SENT } from '../../endpoint/sent-meter.ts';
import { finalCodeOf } from '../../faults/final-code.ts';
import type { GuardPool, JudgeOptions } from '../../pool/pool.ts';
import type { Answer } from '../../protocol/answer.ts';
import { CallError } from '../../protocol/call-error.ts';
import type { CallOptions, Reading } from '../../protocol/connection.ts';
import { GuardStreamError } from '../../streams/guard-stream-error.ts';
import { messageOf, notTaken } from '../../tasks/task.ts';
import { mediaRequestKind, requestKindOf } from '../../tensors/encode-request.ts';
import type { AnsweredGuard } from './answered-guard.ts';

/** Requests that are written or looked up at a time. */
const AT_A_TIME = 32;

/** Model names in the results of one batch. More than these are no names: each is recorded. */
const MAX_MODELS = 16;

/** Nothing is waited for. */
const TIMEOUT_MS = 60_000;

interface BatchPoolOptions {
  /** As recorded in outcomes. */
  readonly endpoint: string;
  readonly guard: AnsweredGuard;
  /** Called before anything of a modality is judged; what it rejects with fails the call. */
  readonly check: (modality: Modality) => Promise<void>;
  /** The checks that were passed. */
  readonly canaries: readonly CanaryCheck[];
  /** Whether the answers are verdicts; false: whatever comes, every item that the guard takes gets a harmless one. */
  readonly isAnswered: boolean;
}

/**
 * A guard whose requests go to files or whose answers come from files, as a pool. Nothing is tried again, since it would be
 * the same: each item ends with its verdict or with the code that the same reply ends with where a guard is asked. Every
 * answer names its model, which is that of the verdict.
 */
export class BatchPool implements GuardPool {
  readonly #options: BatchPoolOptions;
  readonly #limit = pLimit(AT_A_TIME);
  readonly #declared = new Map<string, Reading>();
  readonly fingerprints = new Map<string, Fingerprint>();
  readonly waiting = 0;
  #successes = 0;

  constructor(options: BatchPoolOptions) {
    this.#options = options;
  }

  get canaries(): readonly CanaryCheck[] {
    return this.#options.canaries;
  }

  async judge(requests: readonly GuardRequest[], { signal }: JudgeOptions): Promise<Outcome[]> {
    signal.throwIfAborted();
    const call = { timeoutMs: TIMEOUT_MS, signal };
    for (const modality of new Set(requests.map((request) => request.modality)))
      await this.#options.check(modality);
    return Promise.all(requests.map((request) => this.#limit(() => this.#outcomeOf(request, call))));
  }

  notJudged(kind: OptionalKind): Promise<ItemError | null> {
    const requestKind = 'requestType' in kind ? kind.requestType : mediaRequestKind(kind);
    const isTaken = this.#options.guard.takes(requestKind);
    return Promise.resolve(isTaken ? null : itemError('PROBE_NOT_LOADED', notTaken(kind)));
  }

  openStream(): Promise<never> {
    return Promise.reject(new GuardStreamError('UNIMPLEMENTED', 'a batch takes no moderation streams'));
  }

  /** None answers now, so verdicts of earlier runs are not reused. */
  readModels(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  status(): EndpointStatus[] {
    const { endpoint, guard } = this.#options;
    const { fingerprint, modelVersion } = guard.first;
    return [
      {
        name: endpoint,
        kind: 'openai',
        state: { name: 'ready' },
        inFlight: this.#limit.activeCount,
        queued: this.#limit.pendingCount,
        fingerprint: fingerprint.id,
        modelVersion,
        successes: this.#successes,
        sent: NOTHING_SENT,
        retries: {},
      },
    ];
  }

  onStateChange(): () => void {
    return () => undefined;
  }

  close(): Promise<void> {
    this.#limit.clearQueue();
    return Promise.resolve();
  }

  async #outcomeOf(request: GuardRequest, call: CallOptions): Promise<Outcome> {
    const { guard, isAnswered } = this.#options;
    if (!guard.takes(requestKindOf(request))) return this.#failed('PROBE_NOT_LOADED', notTaken(request));
    try {
      const { answers, modelVersion } = await guard.judge({ request, sessionId: '' }, call);
      if (!isAnswered) return this.#judged(request, HARMLESS, null);
      const answer = answers?.[0] ?? null;
      const model = answer && this.#modelOf(modelVersion!);
      if (answer === null || model === null) return this.#failed('INVALID_REPLY', messageOf('INVALID_REPLY'));
      this.#successes++;
      return this.#judged(request, answer, model);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      const code = finalCodeOf(error.fault);
      const isNamed = error.fault.kind === 'refused' && code !== 'GUARD_REJECTED';
      return this.#failed(code, isNamed ? messageOf(code) : `the batch has no verdict: ${error.answer}`);
    }
  }

  /** Id of what the guard declares with this name; null for one name too many. */
  #modelOf(name: string): string | null {
    let reading = this.#declared.get(name);
    if (reading === undefined) {
      if (this.#declared.size === MAX_MODELS) return null;
      reading = this.#options.guard.declared(name);
      this.#declared.set(name, reading);
      this.fingerprints.set(reading.fingerprint.id, reading.fingerprint);
    }
    return reading.fingerprint.id;
  }

  #judged(request: GuardRequest, answer: Answer, fingerprint: string | null): Outcome {
    const { endpoint } = this.#options;
    const { score, flagged, subcategoryScores, subcategoryFlags, cacheUsage } = answer;
    return {
      judgement: {
        ...{ score, flagged, subcategoryScores, subcategoryFlags, cacheUsage, fingerprint, endpoint },
        latencyMs: 0,
        attempts: 1,
        moderatedAt: new Date().toISOString(),
        coverage: wholeCoverage(request),
        stream: null,
      },
      failure: null,
    };
  }

  #failed(code: ItemCode, message: string): Outcome {
    const { endpoint } = this.#options;
    const moderatedAt = new Date().toISOString();
    return {
      judgement: null,
      failure: { error: itemError(code, message), attempts: 1, endpoint, moderatedAt },
    };
  }
}

const HARMLESS: Answer = {
  score: 0,
  flagged: false,
  subcategoryScores: null,
  subcategoryFlags: null,
  cacheUsage: null,
};
