import type { Fingerprint } from '../domain/fingerprint.ts';
import { LOOPBACK_HOST } from '../domain/loopback.ts';
import { ContractModel } from './contract/contract-model.ts';
import { DEFAULT_CONTEXT_TOKENS } from './contract/context-window.ts';
import type { Serving } from './contract/definition.ts';
import { DynamicBatcher } from './batching/dynamic-batcher.ts';
import { inferenceService } from './grpc/inference-service.ts';
import { Lanes } from './batching/lanes.ts';
import { Listener } from './grpc/listener.ts';
import type { LiteProbe } from './lite/lite-probe.ts';
import { NETWORK_LIMITS, type NetworkLimits } from './grpc/limits.ts';
import type { Model } from './contract/model.ts';
import { Outage } from './synthetic/outage.ts';
import type { Fault } from './synthetic/faults.ts';
import { SyntheticModel, type SyntheticCounts, type SyntheticOptions } from './synthetic/synthetic-model.ts';

export type GuardModelName = 'lite' | 'synthetic';

export interface GuardServerOptions {
  readonly model: GuardModelName;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0: a free one. */
  readonly grpcPort: number;
  /** For the model `synthetic` only. */
  readonly synthetic?: SyntheticOptions;
  /** Rows of one request or execution; default 64. 0: requests have no batch dimension and are never joined. */
  readonly maxBatchSize?: number;
  /** Every call must carry it as `authorization: Bearer …`; default none. */
  readonly token?: string | null;
  /** What differs from NETWORK_LIMITS. */
  readonly limits?: Partial<NetworkLimits>;
}

export interface GuardServer {
  /** `grpc://127.0.0.1:8001`. */
  readonly address: string;
  /** Null unless the model is `synthetic`. */
  readonly synthetic: SyntheticControl | null;
  /** Lets accepted requests finish, for at most 10 s, and stops. May be called again. */
  close(): Promise<void>;
}

/** What a test in the same process can see and do. */
export interface SyntheticControl {
  /** In force now. */
  readonly fingerprint: Fingerprint;
  /** In force now. */
  readonly modelVersion: string;
  readonly counts: SyntheticCounts;
  /** Requests that wait for an execution now. */
  readonly waiting: number;
  /** Replaces the fault script; rows are counted from here. Throws a ZodError for malformed faults. */
  setFaults(faults: readonly Fault[]): void;
  /** Loads the next version, whose fingerprint it returns. Executions that have begun keep theirs. */
  swapVersion(): Fingerprint;
  /** Fingerprint ids that were in force when a content was judged, in order of first use. */
  fingerprintsOf(contentSha256: string): readonly string[];
  /** Lets executions begin but not end, until `resume`. */
  pause(): void;
  resume(): void;
  /** Drops every connection and stops listening, until `listenAgain` takes the same port. */
  stopListening(): void;
  listenAgain(): Promise<void>;
}

export const DEFAULT_MAX_BATCH_SIZE = 64;

/** Requests that may wait for an execution. */
const DEFAULT_MAX_QUEUE_SIZE = 1024;

const CLOSE_GRACE_MS = 10_000;

/**
 * Starts the embedded guard: KServe v2 over gRPC with the model `guard`.
 * Failure('usage') when the port cannot be had.
 */
export async function startGuardServer(options: GuardServerOptions): Promise<GuardServer> {
  const serving: Serving = {
    maxBatchSize: options.maxBatchSize ?? DEFAULT_MAX_BATCH_SIZE,
    instances: options.synthetic?.instances ?? 1,
    maxQueueSize: options.synthetic?.maxQueueSize ?? DEFAULT_MAX_QUEUE_SIZE,
  };
  const outage = new Outage();
  const synthetic =
    options.model === 'synthetic' ? startSynthetic(options.synthetic ?? {}, serving, outage) : null;
  const lite = synthetic === null ? await loadLite() : null;
  const model: Model = synthetic?.model ?? lite!.model;
  const handlers = inferenceService({
    model,
    serving,
    batcher: synthetic?.batcher ?? new Lanes(model, serving),
    isReady: () => synthetic?.model.isDown() !== true,
    isOverloaded: () => synthetic?.model.isOverloaded() === true,
  });
  const listener = new Listener({
    handlers,
    host: options.host ?? LOOPBACK_HOST,
    token: options.token ?? null,
    limits: { ...NETWORK_LIMITS, ...options.limits },
  });
  const port = await listener.open(options.grpcPort);
  outage.attach(listener, port);

  const close = async (): Promise<void> => {
    outage.end();
    synthetic?.model.resume();
    await listener.close(CLOSE_GRACE_MS);
    await lite?.probe.close();
  };
  let closed: Promise<void> | null = null;
  return {
    address: listener.address(port),
    synthetic: synthetic === null ? null : control(synthetic, outage),
    close: () => (closed ??= close()),
  };
}

interface Lite {
  readonly model: Model;
  readonly probe: LiteProbe;
}

/** The weights are read, and their code loaded, only where they are used. */
async function loadLite(): Promise<Lite> {
  const { loadLiteProbe } = await import('./lite/lite-probe.ts');
  const probe = await loadLiteProbe();
  const model = new ContractModel(probe, { version: '1', contextTokens: DEFAULT_CONTEXT_TOKENS });
  return { model, probe };
}

interface Synthetic {
  readonly model: SyntheticModel;
  /** One queue for everything, as Triton has it. */
  readonly batcher: DynamicBatcher;
}

function startSynthetic(options: SyntheticOptions, serving: Serving, outage: Outage): Synthetic {
  const model = new SyntheticModel(options, (forMs) => outage.begin(forMs));
  return { model, batcher: new DynamicBatcher(model, serving) };
}

function control({ model, batcher }: Synthetic, outage: Outage): SyntheticControl {
  return {
    get fingerprint() {
      return model.fingerprint;
    },
    get modelVersion() {
      return model.version;
    },
    get counts() {
      return model.counts;
    },
    get waiting() {
      return batcher.waiting;
    },
    setFaults: (faults) => model.setFaults(faults),
    swapVersion: () => model.swapVersion(),
    fingerprintsOf: (contentSha256) => model.fingerprintsOf(contentSha256),
    pause: () => model.pause(),
    resume: () => model.resume(),
    stopListening: () => outage.begin(undefined),
    listenAgain: () => outage.listenAgain(),
  };
}
