import { createRequire } from 'node:module';
import { MODEL_NAME, type WireModelConfig } from '../../guard/tensors/protocol.ts';
import type { ReceivedRequest } from '../../guard/tensors/wire/infer-messages.ts';
import { type Batcher, queueFull } from '../batching/dynamic-batcher.ts';
import { modelConfig, modelMetadata, type ModelMetadata, type Serving } from '../contract/definition.ts';
import type { Model, Reply } from '../contract/model.ts';
import { RequestError, unavailable } from '../contract/request-error.ts';
import { checkModel, readTensors } from '../contract/tensor-request.ts';

/** What the service serves. */
interface Served {
  readonly model: Model;
  readonly serving: Serving;
  readonly batcher: Batcher;
  isReady(): boolean;
  /** Asked once per inference request. */
  isOverloaded(): boolean;
}

interface ServerMetadata {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

/**
 * The inference server as every transport serves it: KServe v2 and Triton's extensions, without messages of a transport.
 * A `version` of '' means the current one. Methods throw RequestError, which each transport maps to its own statuses.
 */
export class GuardService {
  readonly #served: Served;
  readonly #packageVersion: string;

  constructor(served: Served) {
    this.#served = served;
    const { version } = createRequire(import.meta.url)('#package.json') as { version: string };
    this.#packageVersion = version;
  }

  isLive(): boolean {
    return true;
  }

  isReady(): boolean {
    return this.#served.isReady();
  }

  /** False, and no error, for an unknown model or version. */
  isModelReady(name: string, version: string): boolean {
    const known = name === MODEL_NAME && (version === '' || version === this.#served.model.version);
    return known && this.#served.isReady();
  }

  serverMetadata(): ServerMetadata {
    return { name: 'guardsweep', version: this.#packageVersion, extensions: ['model_configuration'] };
  }

  modelMetadata(name: string, version: string): ModelMetadata {
    const { model, serving } = this.#served;
    checkModel(name, version, model.version, '');
    return modelMetadata(serving, model.version);
  }

  modelConfig(name: string, version: string): WireModelConfig {
    const { model, serving } = this.#served;
    checkModel(name, version, model.version, '');
    return modelConfig(serving);
  }

  /**
   * Judges a request. `settle` is called once, with the tensors or the error of this request; errors found before it is
   * queued are settled within this call. The returned function withdraws a request that no execution has taken yet.
   */
  infer(received: ReceivedRequest, settle: (reply: Reply) => void): () => void {
    const { model, serving, batcher } = this.#served;
    const { id } = received;
    try {
      if (!this.#served.isReady()) throw unavailable(id, 'server not ready');
      const request = readTensors(received, serving.maxBatchSize, model.version);
      if (this.#served.isOverloaded()) throw unavailable(id, queueFull());
      return batcher.submit(request, settle);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      settle({ outputs: null, error });
      return () => {};
    }
  }
}
