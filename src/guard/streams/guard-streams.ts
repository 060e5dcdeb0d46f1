import type { GenerationRequest } from '../../domain/request.ts';
import { AdaptiveConcurrency, type ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { CallOptions, Reply } from '../protocol/connection.ts';
import { GenerationStream, type StreamStart } from './generation-stream.ts';
import { InteractiveStream } from './interactive-stream.ts';
import { ReplayLog } from './replay-log.ts';
import type { SendAhead } from './send-ahead.ts';
import type { ConnectStream } from './stream-transport.ts';

/** Streams open at a time at one endpoint. How many a guard takes is not known, and is found by trial. */
const INITIAL_STREAMS = 8;
const MIN_STREAMS = 2;
const MAX_STREAMS = 64;

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
  readonly #aheadOf: (cadenceChunks: number) => SendAhead;

  /** `aheadOf`: how far replays send ahead of the verdicts, by their cadence in chunks. */
  constructor(connect: ConnectStream, aheadOf: (cadenceChunks: number) => SendAhead) {
    this.#connect = connect;
    this.#aheadOf = aheadOf;
  }

  /** Judges a recorded generation, as `replayGeneration` describes. */
  replay(request: GenerationRequest, options: CallOptions): Promise<Reply> {
    return replayGeneration(request, this.#connect, this.#aheadOf, options);
  }

  /** Opens a stream for a text that is still being generated. Throws the signal's reason when it is aborted. */
  open(start: StreamStart, options: CallOptions): InteractiveStream {
    return new InteractiveStream(this.#connect, start, options);
  }
}

/**
 * Judges a recorded generation: replays it from its start on one stream, as fast as the guard judges it. The answer is
 * the final verdict and what the earlier ones found. `timeoutMs`: as `GenerationStream` says, not for the whole
 * generation. Rejects with `CallError`, or with the signal's reason.
 */
async function replayGeneration(
  { prompt, chunks, cadenceChunks }: GenerationRequest,
  connect: ConnectStream,
  aheadOf: (cadenceChunks: number) => SendAhead,
  options: CallOptions,
): Promise<Reply> {
  const log = new ReplayLog(chunks.length);
  const stream = new GenerationStream(connect, {
    ...options,
    start: { streamId: '', prompt, cadence: { unit: 'chunks', every: cadenceChunks } },
    ahead: aheadOf(cadenceChunks),
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
