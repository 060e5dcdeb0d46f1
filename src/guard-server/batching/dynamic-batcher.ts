import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type { Serving } from '../contract/definition.ts';
import type { Execution, Model, Reply } from '../contract/model.ts';
import { RequestError, unavailable } from '../contract/request-error.ts';
import type { TensorRequest } from '../contract/tensor-request.ts';

/** Contents that may wait, beside the bound on requests: a queue of few but large ones fills memory as well. */
const MAX_QUEUE_BYTES = 256 * 1024 * 1024;

interface Waiting {
  readonly request: TensorRequest;
  readonly settle: (reply: Reply) => void;
  readonly sinceMs: number;
}

/** Where requests wait for a model. */
export interface Batcher {
  /**
   * Queues a request; `settle` is called once, with its reply, unless the returned function has been called before
   * an execution took it. A full queue answers UNAVAILABLE at once.
   */
  submit(request: TensorRequest, settle: (reply: Reply) => void): () => void;
}

/**
 * Joins waiting requests into executions, by Triton's rule: requests leave in the order they came; one joins an
 * execution only if it has the same input names (and the same number of turns) as the first and there is room for
 * all its rows, else the execution leaves as it is. Nothing is delayed to fill an execution: what has gathered while
 * the instances were busy, or within one turn of the event loop, goes together.
 */
export class DynamicBatcher implements Batcher {
  readonly #model: Model;
  readonly #maxRows: number;
  readonly #maxQueueSize: number;
  readonly #queue: Waiting[] = [];
  readonly #idle: number[];
  #queueBytes = 0;
  #scheduled = false;

  constructor(model: Model, serving: Serving) {
    this.#model = model;
    this.#maxRows = Math.max(1, serving.maxBatchSize);
    this.#maxQueueSize = serving.maxQueueSize;
    this.#idle = Array.from({ length: serving.instances }, (_, instance) => instance);
  }

  /** Requests in the queue. */
  get waiting(): number {
    return this.#queue.length;
  }

  submit(request: TensorRequest, settle: (reply: Reply) => void): () => void {
    const tooMany = this.#queue.length >= this.#maxQueueSize;
    const tooLarge = this.#queue.length > 0 && this.#queueBytes + request.bytes > MAX_QUEUE_BYTES;
    if (tooMany || tooLarge) {
      settle({ outputs: null, error: unavailable(request.id, queueFull()) });
      return () => {};
    }
    const waiting: Waiting = { request, settle, sinceMs: performance.now() };
    this.#queue.push(waiting);
    this.#queueBytes += request.bytes;
    this.#schedule();
    return () => {
      const position = this.#queue.indexOf(waiting);
      if (position >= 0) this.#remove(position, 1);
    };
  }

  #remove(position: number, count: number): Waiting[] {
    const removed = this.#queue.splice(position, count);
    for (const { request } of removed) this.#queueBytes -= request.bytes;
    return removed;
  }

  #schedule(): void {
    if (this.#scheduled || this.#idle.length === 0 || this.#queue.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#idle.length > 0 && this.#queue.length > 0) void this.#run(this.#idle.shift()!);
    });
  }

  /** How many requests, from the head of the queue, may be judged together. */
  #joinable(): number {
    const { signature } = this.#queue[0]!.request;
    let rows = 0;
    let count = 0;
    for (const { request } of this.#queue) {
      if (count > 0 && (request.signature !== signature || rows + request.rows > this.#maxRows)) break;
      rows += request.rows;
      count++;
      if (rows >= this.#maxRows) break;
    }
    return count;
  }

  async #run(instance: number): Promise<void> {
    const batch = this.#remove(0, this.#joinable());
    const execution: Execution = {
      instance,
      requests: batch.map(({ request }) => request),
      waitingSinceMs: batch[0]!.sinceMs,
    };
    let replies: readonly Reply[];
    try {
      replies = await this.#model.execute(execution);
    } catch (error) {
      replies = batch.map(() => ({ outputs: null, error: executionFailed(error) }));
    }
    batch.forEach(({ settle }, index) => settle(replies[index]!));
    this.#idle.push(instance);
    this.#schedule();
  }
}

/** What a full queue answers. */
export function queueFull(): string {
  return `exceeds maximum queue size of model '${MODEL_NAME}'`;
}

/** What every request of an execution gets that the model threw out of; the cause stays on this side. */
function executionFailed(cause: unknown): RequestError {
  const text = `Failed to process the request(s) for model '${MODEL_NAME}', the model raised an error`;
  return new RequestError('EXECUTION_FAILED', text, { cause });
}
