import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type { Serving } from '../contract/definition.ts';
import type { Execution, Model, ModelReply } from '../contract/model.ts';
import { RequestError, unavailable } from '../contract/request-error.ts';
import type { TensorRequest } from '../contract/tensor-request.ts';
import type { ModelStatistics } from './model-statistics.ts';

/** Max bytes of queued contents, in addition to the max number of requests: a few large ones can also fill memory. */
const MAX_QUEUE_BYTES = 256 * 1024 * 1024;

interface Waiting {
  readonly request: TensorRequest;
  readonly settle: (reply: ModelReply) => void;
  readonly sinceMs: number;
}

/** The queue in front of a model. */
export interface Batcher {
  /** Number of queued requests. */
  readonly waiting: number;
  /**
   * Queues a request; `settle` is called once with its reply. Calling the returned function withdraws the request if no
   * execution has taken it yet. A full queue answers UNAVAILABLE at once.
   */
  submit(request: TensorRequest, settle: (reply: ModelReply) => void): () => void;
  /** Resolves once no request is queued or running. */
  drained(): Promise<void>;
}

/**
 * Merges queued requests into executions as Triton's dynamic batcher does: first in, first out; a request joins an
 * execution only if its signature equals the first one's and all its rows fit, otherwise the execution runs without it.
 * No request waits for an execution to fill (max_queue_delay_microseconds 0): an execution takes what was queued while
 * the instances were busy, or within one turn of the event loop.
 */
export class DynamicBatcher implements Batcher {
  readonly #model: Model;
  readonly #statistics: ModelStatistics;
  readonly #isOverloaded: () => boolean;
  readonly #maxRows: number;
  readonly #maxQueueSize: number;
  readonly #queue: Waiting[] = [];
  readonly #instances: number;
  readonly #idle: number[];
  /** Called when the batcher is drained. */
  readonly #onDrained: (() => void)[] = [];
  #queueBytes = 0;
  #scheduled = false;

  /** `isOverloaded` is called once per request: whether to answer as if the queue were full. */
  constructor(
    model: Model,
    serving: Serving,
    statistics: ModelStatistics,
    isOverloaded: () => boolean = () => false,
  ) {
    this.#model = model;
    this.#statistics = statistics;
    this.#isOverloaded = isOverloaded;
    this.#maxRows = Math.max(1, serving.maxBatchSize);
    this.#maxQueueSize = serving.maxQueueSize;
    this.#instances = serving.instances;
    this.#idle = Array.from({ length: serving.instances }, (_, instance) => instance);
  }

  get waiting(): number {
    return this.#queue.length;
  }

  submit(request: TensorRequest, settle: (reply: ModelReply) => void): () => void {
    const tooMany = this.#queue.length >= this.#maxQueueSize;
    const tooLarge = this.#queue.length > 0 && this.#queueBytes + request.bytes > MAX_QUEUE_BYTES;
    if (this.#isOverloaded() || tooMany || tooLarge) {
      this.#statistics.rejected();
      settle({ outputs: null, error: unavailable(request.id, queueFull()) });
      return () => {};
    }
    const waiting: Waiting = { request, settle, sinceMs: performance.now() };
    this.#queue.push(waiting);
    this.#queueBytes += request.bytes;
    this.#schedule();
    return () => {
      const position = this.#queue.indexOf(waiting);
      if (position < 0) return;
      this.#remove(position, 1);
      this.#statistics.canceled(performance.now() - waiting.sinceMs);
      this.#tellIfDrained();
    };
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrained.push(resolve);
      this.#tellIfDrained();
    });
  }

  #tellIfDrained(): void {
    if (this.#queue.length > 0 || this.#idle.length < this.#instances) return;
    for (const resolve of this.#onDrained.splice(0)) resolve();
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

  /** Number of requests at the head of the queue that fit into one execution. */
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
    const takenMs = performance.now();
    const batch = this.#remove(0, this.#joinable());
    const execution: Execution = {
      instance,
      requests: batch.map(({ request }) => request),
      waitingSinceMs: batch[0]!.sinceMs,
    };
    const startedMs = performance.now();
    let replies: readonly ModelReply[];
    try {
      replies = await this.#model.execute(execution);
    } catch (error) {
      replies = batch.map(() => ({ outputs: null, error: executionFailed(error) }));
    }
    const endedMs = performance.now();
    batch.forEach(({ settle }, index) => settle(replies[index]!));
    this.#statistics.executed({
      ...{ takenMs, startedMs, endedMs, repliedMs: performance.now() },
      requests: batch.map(({ request, sinceMs }, index) => {
        return { rows: request.rows, queuedMs: sinceMs, failed: replies[index]!.error !== null };
      }),
    });
    this.#idle.push(instance);
    this.#tellIfDrained();
    this.#schedule();
  }
}

/** Triton's error text for a full queue. */
function queueFull(): string {
  return `exceeds maximum queue size of model '${MODEL_NAME}'`;
}

/** The error of every request of an execution in which the model threw. The cause is not sent. */
function executionFailed(cause: unknown): RequestError {
  const text = `Failed to process the request(s) for model '${MODEL_NAME}', the model raised an error`;
  return new RequestError('EXECUTION_FAILED', text, { cause });
}
