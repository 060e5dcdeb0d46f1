import { Failure } from '../../domain/failure.ts';
import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type { Batcher } from '../batching/dynamic-batcher.ts';
import type { Model } from '../contract/model.ts';
import { quoted, RequestError, shortened } from '../contract/request-error.ts';

/** The model while it is loaded, with the queue in front of it. */
export interface LoadedModel {
  readonly model: Model;
  readonly batcher: Batcher;
  /** Frees the model's resources. Called once, when no request runs. */
  close(): Promise<void>;
}

/** Source of the model. */
export interface ModelSource {
  /** The version that `load` would serve. */
  readonly version: string;
  load(): Promise<LoadedModel>;
}

/** State names of Triton's repository index. */
export type ModelState =
  | { readonly name: 'UNKNOWN'; readonly reason: '' }
  | { readonly name: 'LOADING'; readonly reason: ''; readonly settled: Promise<void> }
  | { readonly name: 'READY'; readonly reason: ''; readonly loaded: LoadedModel }
  | { readonly name: 'UNLOADING'; readonly reason: ''; readonly settled: Promise<void> }
  | { readonly name: 'UNAVAILABLE'; readonly reason: string };

const UNLOADED = 'unloaded';

/**
 * Loads and unloads the model `guard` of a running server.
 *
 * ```
 *   UNKNOWN ──load──► LOADING ──loaded──► READY ──unload──► UNLOADING
 *  (never loaded)     │     ▲                                   │
 *               failed│     │load                               │ running requests answered
 *                     ▼     │                                   ▼
 *                   UNAVAILABLE (reason: the failure, or "unloaded")
 * ```
 *
 * Operations on a model that changes already wait for that change: two loads share one, and a load during an unload
 * follows it. Loading a READY model and unloading one that is not loaded do nothing.
 */
export class ModelLifecycle {
  readonly #source: ModelSource;
  #state: ModelState = { name: 'UNKNOWN', reason: '' };

  constructor(source: ModelSource) {
    this.#source = source;
  }

  get state(): ModelState {
    return this.#state;
  }

  /** The version that is served, was last served, or would be served. */
  get version(): string {
    return this.#state.name === 'READY' ? this.#state.loaded.model.version : this.#source.version;
  }

  /**
   * Like Triton's strict readiness: a model that was never loaded, or was unloaded, does not count against the server.
   */
  isSettled(): boolean {
    const { name, reason } = this.#state;
    return name === 'READY' || name === 'UNKNOWN' || reason === UNLOADED;
  }

  /** Whether requests with this name and version are served now. */
  isReady(name: string, version: string): boolean {
    const known = name === MODEL_NAME && (version === '' || version === this.version);
    return known && this.#state.name === 'READY';
  }

  /**
   * Finds the model for a request; version '' is the current one. Throws RequestError, with Triton's texts:
   * MODEL_NOT_FOUND for a name or version that is not served, UNAVAILABLE for one that is loading, unloading, or named
   * and not ready, INVALID_REQUEST for a version that is not a number.
   */
  find(name: string, version: string): LoadedModel {
    if (version !== '' && !/^\d+$/.test(version)) {
      throw new RequestError('INVALID_REQUEST', 'a model version is a whole number');
    }
    const state = this.#state;
    if (name !== MODEL_NAME || state.name === 'UNKNOWN') throw unknown(`${quoted(name)} is not found`);
    if (version !== '' && version !== this.version) {
      throw unknown(`${quoted(name)} version ${shortened(version)} is not found`);
    }
    if (state.name === 'READY') return state.loaded;
    if (state.name === 'UNAVAILABLE' && version === '')
      throw unknown(`'${MODEL_NAME}' has no available versions`);
    const text = `'${MODEL_NAME}' version ${this.version} is not at ready state`;
    throw new RequestError('UNAVAILABLE', `Request for unknown model: ${text}`);
  }

  /** Resolves once the model is READY. Rejects with the error that the source threw. */
  async load(): Promise<void> {
    while (this.#state.name === 'UNLOADING') await this.#state.settled;
    if (this.#state.name === 'READY') return;
    if (this.#state.name !== 'LOADING') this.#state = { name: 'LOADING', reason: '', settled: this.#load() };
    await this.#state.settled;
  }

  /** Rejects new requests and resolves once the running ones are answered and the model is closed. */
  async unload(): Promise<void> {
    while (this.#state.name === 'LOADING') await this.#state.settled.catch(() => {});
    if (this.#state.name === 'READY') {
      const { loaded } = this.#state;
      this.#state = { name: 'UNLOADING', reason: '', settled: this.#unload(loaded) };
    }
    if (this.#state.name === 'UNLOADING') await this.#state.settled;
  }

  /** Closes the model without waiting for its requests: the server no longer has open calls. */
  async close(): Promise<void> {
    while (this.#state.name === 'LOADING') await this.#state.settled.catch(() => {});
    if (this.#state.name === 'READY') await this.#state.loaded.close();
    else if (this.#state.name === 'UNLOADING') await this.#state.settled;
  }

  async #load(): Promise<void> {
    try {
      const loaded = await this.#source.load();
      this.#state = { name: 'READY', reason: '', loaded };
    } catch (error) {
      const reason = error instanceof Failure ? error.message : 'the server failed to load the model';
      this.#state = { name: 'UNAVAILABLE', reason };
      throw error;
    }
  }

  async #unload(loaded: LoadedModel): Promise<void> {
    await loaded.batcher.drained();
    await loaded.close();
    this.#state = { name: 'UNAVAILABLE', reason: UNLOADED };
  }
}

function unknown(text: string): RequestError {
  return new RequestError('MODEL_NOT_FOUND', `Request for unknown model: ${text}`);
}
