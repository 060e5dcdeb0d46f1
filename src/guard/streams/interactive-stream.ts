import type { CallOptions } from '../protocol/connection.ts';
import type { StreamVerdict } from '../tensors/stream/stream-messages.ts';
import { GenerationStream, type StreamStart } from './generation-stream.ts';
import type { GuardStream } from './guard-stream.ts';
import { GuardStreamError, toStreamError } from './guard-stream-error.ts';
import type { ConnectStream } from './stream-transport.ts';

/** Max chunks sent ahead of the verdicts, unless the cadence needs more. */
const MAX_AHEAD = 1024;
/** Max verdicts kept for a caller that reads slowly. */
const MAX_WAITING = 256;

/** A stream for a caller that sends the text as it is generated. For `timeoutMs`, see `GenerationStream`. */
export class InteractiveStream implements GuardStream, AsyncIterable<StreamVerdict> {
  readonly verdicts: AsyncIterable<StreamVerdict> = this;
  /** Resolves when the stream is over, with null or with the original error. */
  readonly over: Promise<unknown>;
  readonly #stream: GenerationStream;
  #waiting: StreamVerdict[] = [];
  #wake: (() => void) | null = null;
  #isOver = false;

  constructor(connect: ConnectStream, start: StreamStart, options: CallOptions) {
    const { cadence } = start;
    const perVerdict = cadence?.unit === 'chunks' ? cadence.every : 1;
    this.#stream = new GenerationStream(connect, {
      ...options,
      start,
      maxAhead: Math.max(MAX_AHEAD, 2 * perVerdict),
      received: ({ verdict }) => this.#add(verdict),
    });
    this.over = this.#stream.finished.then(
      () => null,
      (error: unknown) => error,
    );
    void this.over.then(() => {
      this.#isOver = true;
      this.#wake?.();
    });
  }

  send(chunk: string): Promise<void> {
    return translateErrors(this.#stream.send(chunk));
  }

  end(): Promise<void> {
    return translateErrors(this.#stream.end());
  }

  /** Ends the stream at once. Idempotent. */
  close(error: GuardStreamError): void {
    this.#stream.close(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamVerdict, void, undefined> {
    try {
      while (true) {
        const ready = this.#waiting;
        this.#waiting = [];
        yield* ready;
        if (this.#waiting.length > 0) continue;
        if (this.#isOver) break;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      await translateErrors(this.#stream.finished);
    } finally {
      this.close(new GuardStreamError('CANCELLED', 'the caller stopped reading verdicts'));
    }
  }

  /**
   * Queues a verdict. A later verdict covers the text of an earlier one, so when the queue is full, the last one is
   * replaced.
   */
  #add(verdict: StreamVerdict): void {
    if (this.#waiting.length === MAX_WAITING) this.#waiting.pop();
    this.#waiting.push(verdict);
    this.#wake?.();
  }
}

async function translateErrors(done: Promise<void>): Promise<void> {
  try {
    await done;
  } catch (error) {
    throw toStreamError(error);
  }
}
