import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import { Failure } from '../../domain/failure.ts';
import { invalidRequest, quoted, RequestError } from '../contract/request-error.ts';
import type { ModelLifecycle } from './model-lifecycle.ts';

/** `explicit`: models are loaded and unloaded on request. `none`: only at start and end. */
export type ModelControl = 'explicit' | 'none';

/** An entry of the repository index; a model that was never loaded only has a name. */
interface ModelIndexEntry {
  readonly name: string;
  readonly version?: string;
  /** READY, LOADING, UNLOADING or UNAVAILABLE. */
  readonly state?: string;
  /** Why the model is UNAVAILABLE. */
  readonly reason?: string;
}

/** Names in a request to load or unload a model. */
export interface RepositoryRequest {
  /** '' for the only repository. */
  readonly repository: string;
  readonly model: string;
  /** Names of its parameters. */
  readonly parameters: readonly string[];
}

/** The only parameter with a meaning here: `guard` has no dependents. */
const UNLOAD_PARAMETER = 'unload_dependents';

/**
 * Triton's model repository extension for a repository that contains only the model `guard`. Methods throw
 * RequestError: NOT_SUPPORTED for another repository, UNAVAILABLE if model control is `none`, INVALID_REQUEST for
 * unknown parameters, LOAD_FAILED.
 */
export class ModelRepository {
  readonly #lifecycle: ModelLifecycle;
  readonly #control: ModelControl;

  constructor(lifecycle: ModelLifecycle, control: ModelControl) {
    this.#lifecycle = lifecycle;
    this.#control = control;
  }

  index(repository: string, readyOnly: boolean): readonly ModelIndexEntry[] {
    requireOnlyRepository(repository);
    const { name: state, reason } = this.#lifecycle.state;
    if (readyOnly && state !== 'READY') return [];
    if (state === 'UNKNOWN') return [{ name: MODEL_NAME }];
    const { version } = this.#lifecycle;
    return [{ name: MODEL_NAME, version, state, ...(reason === '' ? {} : { reason }) }];
  }

  /** Resolves once the model is ready. */
  async load(request: RepositoryRequest): Promise<void> {
    this.#requireControl(request, []);
    const { model } = request;
    if (model !== MODEL_NAME) {
      throw new RequestError(
        'LOAD_FAILED',
        `failed to load ${quoted(model)}, failed to poll from model repository`,
      );
    }
    try {
      await this.#lifecycle.load();
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      const text = `failed to load '${MODEL_NAME}': ${cause.message}`;
      throw new RequestError('LOAD_FAILED', text, { cause });
    }
  }

  /**
   * Unloads a model. Resolves once no request runs and the model is closed; at once for a model that is not loaded,
   * whatever its name.
   */
  async unload(request: RepositoryRequest): Promise<void> {
    this.#requireControl(request, [UNLOAD_PARAMETER]);
    if (request.model === MODEL_NAME) await this.#lifecycle.unload();
  }

  #requireControl({ repository, parameters }: RepositoryRequest, known: readonly string[]): void {
    requireOnlyRepository(repository);
    if (this.#control === 'none') {
      const text = 'explicit model load / unload is not allowed: this server runs with model control none';
      throw new RequestError('UNAVAILABLE', text);
    }
    const unknown = parameters.find((name) => !known.includes(name));
    if (unknown !== undefined) throw invalidRequest('', `parameter ${quoted(unknown)} is not supported`);
  }
}

function requireOnlyRepository(repository: string): void {
  if (repository !== '') {
    throw new RequestError('NOT_SUPPORTED', 'this server has a single model repository, which has no name');
  }
}
