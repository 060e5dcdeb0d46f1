import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ApiError } from '../api/errors.ts';

/** A request that has no reply yet. */
export interface OpenRequest {
  /** Aborts when the client disconnects, with an ApiError on timeout, or with the answer of `abortAll`. */
  readonly signal: AbortSignal;
  /**
   * Calls a function once, when the response is over or the client has disconnected; at once if it already happened.
   */
  onEnd(end: () => void): void;
}

/** The requests that have no reply yet, each with its time limit. */
export class OpenRequests {
  readonly #timeoutMs: number;
  readonly #answerInTime: () => () => ApiError;
  readonly #open = new Set<AbortController>();

  /**
   * `answerInTime` is called when a request is opened. It returns a function that explains why the request took too
   * long.
   */
  constructor(timeoutMs: number, answerInTime: () => () => ApiError) {
    this.#timeoutMs = timeoutMs;
    this.#answerInTime = answerInTime;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Follows a request from its headers to the end of its response. */
  open(response: ServerResponse): OpenRequest {
    const ending = new AbortController();
    setMaxListeners(0, ending.signal);
    const { signal } = ending;
    const answer = this.#answerInTime();
    const timer = setTimeout(() => ending.abort(answer()), this.#timeoutMs);
    this.#open.add(ending);
    let isOver = false;
    response.once('close', () => {
      isOver = true;
      clearTimeout(timer);
      this.#open.delete(ending);
      ending.abort(new ApiError('INTERNAL', 'the client is gone'));
    });
    const onEnd = (end: () => void): void => {
      if (isOver) end();
      else response.once('close', end);
    };
    return { signal, onEnd };
  }

  /** Ends all requests with this answer. */
  abortAll(answer: ApiError): void {
    for (const ending of this.#open) ending.abort(answer);
  }
}
