import type { GenerationRequest } from '../../domain/request.ts';
import { AdaptiveConcurrency, type ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { CallOptions, Reply } from '../protocol/connection.ts';
import { GenerationStream, type StreamStart } from './generation-stream.ts';
import { InteractiveStream } from './interactive-stream.ts';
import { ReplayLog } from './replay-log.ts';
import type { ConnectStream } from './stream-transport.ts';

/** Initial max of streams open at one endpoint. The capacity of a guard is not known, and is found by trial. */
const INITIAL_STREAMS = 8;
const MIN_STREAMS = 2;
const MAX_STREAMS = 64;

/**
 * Max chunks that a replay sends ahead of the verdicts, or twice its cadence if that is more. A guard may ignore the
 * requested cadence: it still gives verdicts if its own is no longer than this.
 */
const MAX_AHEAD = 64;

/** The moderation streams of one guard, for one period of use. */
export class GuardStreams {
  /** Limit of streams open at a time. */
  readonly concurrency: ConcurrencyPolicy = new AdaptiveConcurrency({
    start: INITIAL_STREAMS,
    min: MIN_STREAMS,
    max: MAX_STREAMS,
    step: 1,
  });
  readonly #connect: ConnectStream;

  constructor(connect: ConnectStream) {
    this.#connect = connect;
  }

  /**
   * Judges a recorded generation: replays it from its start on one stream, as fast as the guard judges it. The answer
   * is the final verdict and the findings of the earlier ones. `timeoutMs` limits waits without progress, see
   * `GenerationStream`, not the whole generation. Rejects with `CallError`, or with the signal's reason.
   */
  async replay({ prompt, chunks, cadenceChunks }: GenerationRequest, options: CallOptions): Promise<Reply> {
    const log = new ReplayLog(chunks.length);
    const stream = new GenerationStream(this.#connect, {
      ...options,
      start: { streamId: '', prompt, cadence: { unit: 'chunks', every: cadenceChunks } },
      maxAhead: Math.max(MAX_AHEAD, 2 * cadenceChunks),
      received: (received) => log.add(received),
    });
    try {
      for (const chunk of chunks) await stream.send(chunk);
      await stream.end();
      await stream.finished;
    } finally {
      stream.close();
    }
    return { answers: [log.answer()], modelVersion: log.modelVersion };
  }

  /** Opens a stream for text that is still being generated. Throws the signal's reason when it is aborted. */
  open(start: StreamStart, options: CallOptions): InteractiveStream {
    return new InteractiveStream(this.#connect, start, options);
  }
}
