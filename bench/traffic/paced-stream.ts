import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../src/domain/failure.ts';
import type { Cadence, StreamVerdict } from '../../src/guard/tensors/stream/stream-messages.ts';
import { chunkMessage, type StreamClient } from './stream-client.ts';

export interface PacedGeneration {
  readonly prompt: string;
  readonly chunks: readonly string[];
  readonly cadence: Cadence;
  /** Time between two chunks. */
  readonly paceMs: number;
}

/**
 * Replays a generation at its pace. Resolves to the lag of each chunk, in milliseconds: from the time when the cadence
 * makes its verdict due to the arrival of a verdict that covers it. Rejects with a Failure unless the stream is
 * complete.
 */
export async function lagsOf(
  generation: PacedGeneration,
  client: StreamClient,
  signal: AbortSignal,
): Promise<number[]> {
  const { prompt, chunks, cadence, paceMs } = generation;
  const lags: number[] = [];
  /** Send time of each chunk and, last, of the end. */
  const sentAt: number[] = [];
  const take = ({ processedUntilSeq }: StreamVerdict): void => {
    const now = performance.now();
    const first = lags.length;
    for (let seq = first; seq < chunks.length && seq <= processedUntilSeq; seq++) {
      lags.push(now - Math.min(now, dueAt(cadence, seq, first, sentAt), sentAt[chunks.length] ?? Infinity));
    }
  };
  let settle: (outcome: { readonly status: string; readonly text: string }) => void;
  const ended = new Promise<{ readonly status: string; readonly text: string }>(
    (resolve) => (settle = resolve),
  );
  const stream = client.open({
    verdict: (verdict) => {
      take(verdict);
      if (verdict.isFinal) stream.end();
    },
    ended: (status, text) => settle({ status, text }),
  });
  try {
    const startedAt = performance.now();
    for (const [seq, chunk] of chunks.entries()) {
      await delay(Math.max(0, startedAt + seq * paceMs - performance.now()), undefined, { signal });
      sentAt.push(performance.now());
      stream.send({ ...chunkMessage(seq, chunk), ...(seq === 0 ? { prompt, cadence } : {}) });
    }
    sentAt.push(performance.now());
    stream.send(chunkMessage(chunks.length, null));
  } catch (error) {
    stream.leave();
    throw error;
  }
  const { status, text } = await ended;
  if (status === 'OK' && lags.length === chunks.length) return lags;
  throw new Failure('internal', `a stream ended with ${status} after ${lags.length} chunks: ${text}`);
}

/** Due time of the verdict on a chunk; `first` is the first chunk after the previous verdict. */
function dueAt({ unit, every }: Cadence, seq: number, first: number, sentAt: readonly number[]): number {
  if (unit === 'ms') return sentAt[first]! + every;
  const last = Math.floor(seq / every) * every + every - 1;
  return sentAt[last] ?? Infinity;
}
