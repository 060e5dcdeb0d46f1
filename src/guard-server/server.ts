import type { Fingerprint } from '../domain/fingerprint.ts';
import { LOOPBACK_HOST } from '../domain/access.ts';
import { DEFAULT_CONTEXT_TOKENS } from './contract/context-window.ts';
import type { Serving } from './contract/definition.ts';
import { ModelStatistics } from './batching/model-statistics.ts';
import { ModerationStreams } from '../http/streams/moderation-streams.ts';
import { STREAM_LIMITS, type StreamLimits } from '../http/streams/stream-limits.ts';
import { Listener } from './grpc/listener.ts';
import { HttpListener } from './http/http-listener.ts';
import { liteSource, startSynthetic, syntheticSource, type Synthetic } from './model-sources.ts';
import type { Observed } from './service/guard-metrics.ts';
import { GuardService } from './service/guard-service.ts';
import { ModelLifecycle } from './service/model-lifecycle.ts';
import { ModelRepository, type ModelControl } from './service/model-repository.ts';
import { WindowJudging } from './streams/window-judging.ts';
import { Outage } from './synthetic/outage.ts';
import type { ScriptedFault } from './synthetic/faults.ts';
import type { SyntheticCounts, SyntheticOptions } from './synthetic/synthetic-model.ts';

export type GuardModelName = 'lite' | 'synthetic';

export interface GuardServerOptions {
  readonly model: GuardModelName;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly grpcPort: number;
  /** 0 picks a free port; by default, there is no HTTP. */
  readonly httpPort?: number;
  /** For the model `lite` only: return all category scores for all content; default: for flagged content only. */
  readonly allScores?: boolean;
  /** Options of the model `synthetic`. */
  readonly synthetic?: SyntheticOptions;
  /**
   * Max rows of a request or an execution; default 64. With 0, requests have no batch dimension and are never merged.
   */
  readonly maxBatchSize?: number;
  /** Default `none`. */
  readonly modelControl?: ModelControl;
  /** With model control `explicit`: the model to load before the server listens; by default none. */
  readonly loadModel?: 'guard' | null;
  /** Required of every call as `authorization: Bearer <token>`; by default no token is required. */
  readonly token?: string | null;
  /** Overrides of STREAM_LIMITS. */
  readonly streamLimits?: Partial<StreamLimits>;
}

export interface GuardServer {
  /** `grpc://127.0.0.1:8001`. */
  readonly address: string;
  /** `http://127.0.0.1:8000`; null without HTTP. */
  readonly httpAddress: string | null;
  /** Source of its metrics. */
  readonly observed: Observed;
  /** Null unless the model is `synthetic`. */
  readonly synthetic: SyntheticControl | null;
  /** Waits for open calls, up to 10 s and until `atOnce` aborts, and stops. May be called again. */
  close(atOnce?: AbortSignal): Promise<void>;
}

/** Hooks for tests and benches in the same process. */
export interface SyntheticControl {
  /** Fingerprint of the current version. */
  readonly fingerprint: Fingerprint;
  readonly modelVersion: string;
  readonly counts: SyntheticCounts;
  /** Queued requests. */
  readonly waiting: number;
  /** Replaces the fault script and restarts its row count. Throws a ZodError for malformed faults. */
  setFaults(faults: readonly ScriptedFault[]): void;
  /** Loads the next version and returns its fingerprint. Running executions keep theirs. */
  swapVersion(): Fingerprint;
  /** Ids of the fingerprints that content was judged under, in order of first use. */
  fingerprintsOf(contentSha256: string): readonly string[];
  /** Holds executions: they start but do not end until `resume`. */
  pause(): void;
  resume(): void;
  /** Drops every connection and stops listening until `listenAgain` binds the same port. */
  stopListening(): void;
  listenAgain(): Promise<void>;
}

const DEFAULT_MAX_BATCH_SIZE = 64;

/** Max queued requests. */
const DEFAULT_MAX_QUEUE_SIZE = 1024;

const CLOSE_GRACE_MS = 10_000;

/**
 * Starts the embedded guard: KServe v2 over gRPC, and over HTTP if requested, with the model `guard`. Failure('usage')
 * when a port cannot be bound.
 */
export async function startGuardServer(options: GuardServerOptions): Promise<GuardServer> {
  const serving: Serving = {
    maxBatchSize: options.maxBatchSize ?? DEFAULT_MAX_BATCH_SIZE,
    instances: options.synthetic?.instances ?? 1,
    maxQueueSize: options.synthetic?.maxQueueSize ?? DEFAULT_MAX_QUEUE_SIZE,
  };
  const outage = new Outage();
  const statistics = new ModelStatistics();
  const synthetic =
    options.model === 'synthetic'
      ? await startSynthetic(options.synthetic ?? {}, serving, statistics, (forMs) => outage.begin(forMs))
      : null;
  const lifecycle = new ModelLifecycle(
    synthetic === null
      ? liteSource(serving, statistics, options.allScores ?? false)
      : syntheticSource(synthetic),
  );
  const { modelControl = 'none', loadModel = null } = options;
  const service = new GuardService({
    lifecycle,
    repository: new ModelRepository(lifecycle, modelControl),
    statistics,
    serving,
    isDown: () => synthetic?.model.isDown() === true,
  });
  const judging = new WindowJudging({
    service,
    contextTokens: options.synthetic?.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
    maxQueueSize: serving.maxQueueSize,
  });
  const streams = new ModerationStreams(judging, { ...STREAM_LIMITS, ...options.streamLimits });
  const listening = {
    ...{ service, streams },
    host: options.host ?? LOOPBACK_HOST,
    token: options.token ?? null,
    closeGraceMs: CLOSE_GRACE_MS,
  };
  const grpc = new Listener(listening);
  const http = new HttpListener(listening);
  if (modelControl === 'none' || loadModel !== null) await lifecycle.load();
  let grpcPort: number;
  let httpPort: number | null = null;
  try {
    grpcPort = await grpc.open(options.grpcPort);
    outage.attach(grpc, grpcPort);
    if (options.httpPort !== undefined) {
      httpPort = await http.open(options.httpPort);
      outage.attach(http, httpPort);
    }
  } catch (error) {
    outage.end();
    grpc.drop();
    await lifecycle.close();
    throw error;
  }

  const drop = (): void => {
    grpc.drop();
    http.drop();
  };
  const close = async (atOnce?: AbortSignal): Promise<void> => {
    outage.end();
    streams.close();
    synthetic?.model.resume();
    atOnce?.addEventListener('abort', drop);
    if (atOnce?.aborted === true) drop();
    await Promise.all([grpc.close(), http.close()]);
    atOnce?.removeEventListener('abort', drop);
    await lifecycle.close();
    await synthetic?.model.close();
  };
  let closed: Promise<void> | null = null;
  return {
    address: grpc.address(grpcPort),
    httpAddress: httpPort === null ? null : http.address(httpPort),
    observed: { lifecycle, statistics, streams },
    synthetic: synthetic === null ? null : controlOf(synthetic, outage),
    close: (atOnce) => (closed ??= close(atOnce)),
  };
}

function controlOf({ model, batcher }: Synthetic, outage: Outage): SyntheticControl {
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
