import type { GenerationRequest } from '../../domain/request.ts';
import type { CallOptions, Reply } from '../protocol/connection.ts';
import { GenerationStream } from './generation-stream.ts';
import { ReplayLog } from './replay-log.ts';
import type { SendAhead } from './send-ahead.ts';
import type { ConnectStream } from './stream-transport.ts';

/**
 * Judges a recorded generation: replays it from its start on one stream, as fast as the guard judges it. The answer is
 * the final verdict and what the earlier ones found. `timeoutMs`: as `GenerationStream` says, not for the whole
 * generation. Rejects with `CallError`, or with the signal's reason.
 */
export async function replayGeneration(
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
