import type { Fingerprint } from '../../domain/fingerprint.ts';
import { ContractModel } from '../contract/contract-model.ts';
import { DEFAULT_CONTEXT_TOKENS } from '../contract/context-window.ts';
import type { Execution, Model, ModelReply } from '../contract/model.ts';
import { refused } from '../contract/request-error.ts';
import type { CacheCounts } from '../contract/session-cache.ts';
import type { TensorRequest } from '../contract/tensor-request.ts';
import { MediaFeatures } from '../features/media-features.ts';
import { FaultScript, malform, type ScriptedFault } from './faults.ts';
import { InstanceClock, referenceMs } from './service-time.ts';
import { syntheticFingerprint, syntheticProbe } from './synthetic-probe.ts';
import { VersionRecord } from './version-record.ts';

export interface SyntheticOptions {
  /** Concurrent executions; default 1. */
  readonly instances?: number;
  /** Max queued requests; same default as for the other models. */
  readonly maxQueueSize?: number;
  /** Default 8192. */
  readonly contextTokens?: number;
  /** Default `reference`: the guard's published times. `zero`: as fast as this process can. */
  readonly serviceTime?: 'reference' | 'zero' | ExecutionMs;
  /**
   * Whether images and audio clips are scored by their features, which requires decoding: tens of milliseconds each. By
   * default, they are scored by their bytes.
   */
  readonly judgesFeatures?: boolean;
  /** Called for every execution once its service time, `serviceMs`, is over. */
  readonly observe?: (execution: Execution, serviceMs: number) => void;
  /** Default none. */
  readonly faults?: readonly ScriptedFault[];
  /** Max contents whose versions are recorded; default 200,000. */
  readonly recordCapacity?: number;
}

/** Milliseconds that an execution with these requests takes. */
type ExecutionMs = (requests: readonly TensorRequest[]) => number;

/** Totals since the model was created. */
export interface SyntheticCounts {
  /** Executions started, and the requests and rows in them, including rejected ones and `version` requests. */
  readonly executions: number;
  readonly requests: number;
  readonly rows: number;
  /** Sum of all service times, in milliseconds. */
  readonly busyMs: number;
}

const DEFAULT_RECORD_CAPACITY = 200_000;

/** A model for load and fault tests: the full contract with synthetic scores, scripted times and scripted faults. */
export class SyntheticModel implements Model {
  readonly #contextTokens: number;
  readonly #executionMs: ExecutionMs;
  readonly #observe: SyntheticOptions['observe'];
  readonly #clock = new InstanceClock();
  readonly #features: MediaFeatures | null;
  readonly #record: VersionRecord;
  readonly #onClosed: (forMs: number | undefined) => void;
  #loaded: { readonly model: ContractModel; readonly fingerprint: Fingerprint };
  #script: FaultScript;
  #rowsBeforeScript = 0;
  #counts = { executions: 0, requests: 0, rows: 0, busyMs: 0 };
  #held: { readonly released: Promise<void>; readonly release: () => void } | null = null;

  /** `onClosed` is called when a fault makes the server stop listening, temporarily or permanently. */
  constructor(options: SyntheticOptions, onClosed: (forMs: number | undefined) => void) {
    this.#contextTokens = options.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
    const { serviceTime = 'reference' } = options;
    this.#executionMs =
      serviceTime === 'reference' ? referenceMs : serviceTime === 'zero' ? () => 0 : serviceTime;
    this.#observe = options.observe;
    this.#features = options.judgesFeatures === true ? new MediaFeatures() : null;
    this.#record = new VersionRecord(options.recordCapacity ?? DEFAULT_RECORD_CAPACITY);
    this.#onClosed = onClosed;
    this.#loaded = this.#load(1);
    this.#script = new FaultScript(options.faults ?? []);
    this.#beginFaults();
  }

  get version(): string {
    return this.#loaded.model.version;
  }

  get cacheTotals(): CacheCounts {
    return this.#loaded.model.cacheTotals;
  }

  get fingerprint(): Fingerprint {
    return this.#loaded.fingerprint;
  }

  get counts(): SyntheticCounts {
    return { ...this.#counts };
  }

  /** Whether a fault makes the server not ready. */
  isDown(): boolean {
    return this.#script.isInForce('down');
  }

  /** Whether a fault overloads the request arriving now. Called once per request. */
  isOverloaded(): boolean {
    return this.#script.strike('overload') !== null;
  }

  /** Replaces the fault script and restarts its row count. Throws a ZodError for malformed faults. */
  setFaults(faults: readonly ScriptedFault[]): void {
    this.#script = new FaultScript(faults);
    this.#rowsBeforeScript = this.#counts.rows;
    this.#beginFaults();
  }

  /** Loads the next version. Running executions keep theirs. */
  swapVersion(): Fingerprint {
    this.#loaded = this.#load(Number(this.version) + 1);
    return this.#loaded.fingerprint;
  }

  /** Ids of the fingerprints that content was judged under, in order of first use. */
  fingerprintsOf(contentSha256: string): readonly string[] {
    return this.#record.of(contentSha256);
  }

  /** Holds executions: they start but do not end until `resume`. */
  pause(): void {
    if (this.#held !== null) return;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#held = { released, release };
  }

  resume(): void {
    this.#held?.release();
    this.#held = null;
  }

  /** Ends the decoders of images and clips; an execution that needs them throws. May be called more than once. */
  close(): Promise<void> {
    return this.#features?.close() ?? Promise.resolve();
  }

  async execute(execution: Execution): Promise<readonly ModelReply[]> {
    this.#beginFaults();
    const { model } = this.#loaded;
    const script = this.#script;
    const { requests } = execution;
    const slow = script.strike('slow')?.factor ?? 1;
    const ms = this.#executionMs(requests) * slow;
    this.#counts.executions++;
    this.#counts.requests += requests.length;
    for (const { rows } of requests) this.#counts.rows += rows;
    this.#counts.busyMs += ms;
    if (ms > 0) await this.#clock.spend(execution.instance, execution.waitingSinceMs, ms);
    this.#observe?.(execution, ms);
    await this.#held?.released;

    if (script.strike('crash', ({ containing }) => requests.some((request) => holds(request, containing)))) {
      throw new Error('a scripted crash');
    }
    const replies = await model.execute(execution);
    return replies.map((reply, index) => this.#applyFaults(script, requests[index]!, reply));
  }

  #applyFaults(script: FaultScript, request: TensorRequest, reply: ModelReply): ModelReply {
    if (reply.error !== null) return reply;
    const refusal = script.strike('refuse', ({ containing }) => holds(request, containing));
    if (refusal !== null) {
      return { outputs: null, error: refused(request.id, refusal.code, 'refused by script') };
    }
    const malformed = script.strike('malformed', ({ containing }) => holds(request, containing));
    return malformed === null ? reply : { ...reply, outputs: malform(reply.outputs, malformed.reply) };
  }

  #beginFaults(): void {
    for (const fault of this.#script.begin(this.#counts.rows - this.#rowsBeforeScript)) {
      if (fault.kind === 'swap-version') this.swapVersion();
      if (fault.kind === 'down' && fault.how === 'closed') this.#onClosed(fault.forMs);
    }
  }

  #load(version: number): { model: ContractModel; fingerprint: Fingerprint } {
    const fingerprint = syntheticFingerprint(version, this.#features !== null);
    const probe = syntheticProbe(version, this.#features, (hash) => this.#record.add(hash, fingerprint.id));
    const model = new ContractModel(probe, {
      version: String(version),
      contextTokens: this.#contextTokens,
    });
    return { model, fingerprint };
  }
}

function holds(request: TensorRequest, needle: string | undefined): boolean {
  if (needle === undefined) return true;
  for (const elements of request.strings.values()) {
    if (elements.some((element) => element.includes(needle))) return true;
  }
  return false;
}
