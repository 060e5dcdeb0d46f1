import { createRequire } from 'node:module';
import type { TensorLayout } from '../../guard/tensors/encode-request.ts';
import { MODEL_NAME, type WireModelConfig } from '../../guard/tensors/protocol.ts';
import type { ReceivedRequest } from '../../guard/tensors/wire/infer-messages.ts';
import type { ModelStatistics } from '../batching/model-statistics.ts';
import { modelConfig, modelMetadata, type ModelMetadata, type Serving } from '../contract/definition.ts';
import type { ModelReply } from '../contract/model.ts';
import { RequestError, unavailable } from '../contract/request-error.ts';
import { readTensors } from '../contract/tensor-request.ts';
import { statisticsEntry, type StatisticsEntry } from './statistics-entry.ts';
import type { ModelLifecycle } from './model-lifecycle.ts';
import type { ModelRepository } from './model-repository.ts';

/** The served model. */
interface Served {
  readonly lifecycle: ModelLifecycle;
  readonly repository: ModelRepository;
  readonly statistics: ModelStatistics;
  readonly serving: Serving;
  isDown(): boolean;
}

interface ServerMetadata {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

/** Triton's names of the supported extensions. */
const EXTENSIONS = [
  'model_repository',
  'model_repository(unload_dependents)',
  'model_configuration',
  'binary_tensor_data',
  'statistics',
];

/**
 * The inference server without transport-specific messages: KServe v2 and Triton's extensions. A `version` of '' means
 * the current one. Methods throw RequestError, which each transport maps to its own statuses.
 */
export class GuardService {
  /** Loads and unloads the model. */
  readonly repository: ModelRepository;
  readonly #served: Served;
  readonly #lifecycle: ModelLifecycle;
  readonly #packageVersion: string;

  constructor(served: Served) {
    this.#served = served;
    this.#lifecycle = served.lifecycle;
    this.repository = served.repository;
    const { version } = createRequire(import.meta.url)('#package.json') as { version: string };
    this.#packageVersion = version;
  }

  /** Definitions of the model's tensors. */
  get layout(): TensorLayout {
    return { batched: this.#served.serving.maxBatchSize > 0 };
  }

  isLive(): boolean {
    return true;
  }

  /**
   * Whether the server is ready: true with no model loaded, false while the model changes and after it failed to load.
   */
  isReady(): boolean {
    return !this.#served.isDown() && this.#lifecycle.isSettled();
  }

  /** Whether a model is ready; false instead of an error for an unknown model or version. */
  isModelReady(name: string, version: string): boolean {
    return !this.#served.isDown() && this.#lifecycle.isReady(name, version);
  }

  serverMetadata(): ServerMetadata {
    return { name: 'guardsweep', version: this.#packageVersion, extensions: EXTENSIONS };
  }

  modelMetadata(name: string, version: string): ModelMetadata {
    const { model } = this.#lifecycle.find(name, version);
    return modelMetadata(this.#served.serving, model.version);
  }

  modelConfig(name: string, version: string): WireModelConfig {
    this.#lifecycle.find(name, version);
    return modelConfig(this.#served.serving);
  }

  /**
   * Throws RequestError unless streams to this model and version are served now. The errors are those of `infer`,
   * except UNAVAILABLE for the existing model while it is not loaded, as the contract requires for streams.
   */
  requireModel(name: string, version: string): void {
    if (this.#served.isDown()) throw unavailable('', 'server not ready');
    if (name === MODEL_NAME && version === '' && this.#lifecycle.state.name !== 'READY') {
      throw unavailable('', `'${MODEL_NAME}' is not loaded`);
    }
    this.#lifecycle.find(name, version);
  }

  /**
   * The statistics of a model, or with name '' of all models that are ready. They count from the start of the server,
   * across versions and reloads of the model.
   */
  modelStatistics(name: string, version: string): readonly StatisticsEntry[] {
    if (name !== '') this.#lifecycle.find(name, version);
    else if (this.#lifecycle.state.name !== 'READY') return [];
    return [statisticsEntry(this.#lifecycle.version, this.#served.statistics)];
  }

  /**
   * Judges a request. `settle` is called once, with the tensors or the error of this request; errors found before it is
   * queued are reported within this call. The returned function withdraws a request that no execution has taken yet.
   */
  infer(received: ReceivedRequest, settle: (reply: ModelReply) => void): () => void {
    const { id } = received;
    try {
      if (this.#served.isDown()) throw unavailable(id, 'server not ready');
      const { batcher } = this.#lifecycle.find(received.model_name, received.model_version);
      const request = readTensors(received, this.#served.serving.maxBatchSize);
      return batcher.submit(request, settle);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      settle({ outputs: null, error });
      return () => {};
    }
  }
}
