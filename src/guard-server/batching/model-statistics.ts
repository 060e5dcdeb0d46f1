/** Number of operations, and their total time. */
export interface StatisticDuration {
  readonly count: number;
  readonly ns: number;
}

/** Why a request failed, by Triton's names: a full queue, a client that disconnected, or the model. */
export type FailureReason = 'REJECTED' | 'CANCELED' | 'BACKEND';

/** All counts cover successful requests only, except `fail`. */
export interface InferStatistics {
  /** Time from queueing to the reply. */
  readonly success: StatisticDuration;
  readonly fail: StatisticDuration;
  readonly queue: StatisticDuration;
  readonly compute_input: StatisticDuration;
  readonly compute_infer: StatisticDuration;
  readonly compute_output: StatisticDuration;
}

/** The executions of one batch size, in rows. */
export interface BatchStatistics {
  readonly batch_size: number;
  readonly compute_input: StatisticDuration;
  readonly compute_infer: StatisticDuration;
  readonly compute_output: StatisticDuration;
}

/** Timing of one execution of the model, in milliseconds by performance.now(). */
export interface ExecutionRecord {
  readonly requests: readonly {
    readonly rows: number;
    readonly queuedMs: number;
    readonly failed: boolean;
  }[];
  readonly takenMs: number;
  readonly startedMs: number;
  readonly endedMs: number;
  /** Time when the replies had been handed over. */
  readonly repliedMs: number;
}

const NS_PER_MS = 1e6;

class Sum implements StatisticDuration {
  count = 0;
  ns = 0;

  add(ms: number, count = 1): void {
    this.count += count;
    this.ns += Math.round(ms * NS_PER_MS) * count;
  }
}

/** Durations of the steps of an execution. */
class Compute {
  readonly compute_input = new Sum();
  readonly compute_infer = new Sum();
  readonly compute_output = new Sum();

  add({ takenMs, startedMs, endedMs, repliedMs }: ExecutionRecord, count: number): void {
    this.compute_input.add(startedMs - takenMs, count);
    this.compute_infer.add(endedMs - startedMs, count);
    this.compute_output.add(repliedMs - endedMs, count);
  }
}

/**
 * Cumulative statistics of a model, with the meanings of Triton's statistics extension. A request counts each step of
 * its execution in full, however many requests shared it. Requests that are rejected before they are queued do not
 * count.
 */
export class ModelStatistics {
  readonly #failures = { REJECTED: 0, CANCELED: 0, BACKEND: 0 };
  readonly #success = new Sum();
  readonly #fail = new Sum();
  readonly #queue = new Sum();
  readonly #requests = new Compute();
  readonly #batches = new Map<number, Compute>();
  #lastInferenceMs = 0;
  #inferences = 0;
  #executions = 0;

  /** Start of the last execution, in milliseconds since 1970; 0 means never. */
  get lastInferenceMs(): number {
    return this.#lastInferenceMs;
  }

  /** Rows of successful requests. */
  get inferenceCount(): number {
    return this.#inferences;
  }

  /** Executions with at least one successful request. */
  get executionCount(): number {
    return this.#executions;
  }

  get failures(): Readonly<Record<FailureReason, number>> {
    return this.#failures;
  }

  get inferStats(): InferStatistics {
    const { compute_input, compute_infer, compute_output } = this.#requests;
    return {
      success: this.#success,
      fail: this.#fail,
      queue: this.#queue,
      compute_input,
      compute_infer,
      compute_output,
    };
  }

  /** Statistics in ascending order of batch sizes. */
  get batchStats(): BatchStatistics[] {
    return [...this.#batches]
      .sort(([one], [other]) => one - other)
      .map(([batch_size, { compute_input, compute_infer, compute_output }]) => {
        return { batch_size, compute_input, compute_infer, compute_output };
      });
  }

  /** Counts a request that found the queue full. */
  rejected(): void {
    this.#failed('REJECTED', 0);
  }

  /** Counts a request that was withdrawn after this time in the queue. */
  canceled(queuedForMs: number): void {
    this.#failed('CANCELED', queuedForMs);
  }

  executed(record: ExecutionRecord): void {
    const { requests, takenMs, repliedMs } = record;
    this.#lastInferenceMs = Math.round(performance.timeOrigin + record.startedMs);
    let [rows, succeeded] = [0, 0];
    for (const request of requests) {
      rows += request.rows;
      if (request.failed) {
        this.#failed('BACKEND', repliedMs - request.queuedMs);
        continue;
      }
      succeeded++;
      this.#inferences += request.rows;
      this.#success.add(repliedMs - request.queuedMs);
      this.#queue.add(takenMs - request.queuedMs);
    }
    if (succeeded === 0) return;
    this.#executions++;
    this.#requests.add(record, succeeded);
    const batch = this.#batches.get(rows) ?? new Compute();
    this.#batches.set(rows, batch);
    batch.add(record, 1);
  }

  #failed(reason: FailureReason, ms: number): void {
    this.#failures[reason]++;
    this.#fail.add(ms);
  }
}
