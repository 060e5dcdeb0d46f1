import type { StreamRequest, StreamVerdict } from '../../src/guard/tensors/stream/stream-messages.ts';

/** What a moderation stream calls its client back with. */
export interface StreamEvents {
  readonly verdict: (verdict: StreamVerdict) => void;
  /**
   * Called once, last. `status`: a gRPC status name, `OK` for a complete stream, or what else happened; `text`: of the
   * error.
   */
  readonly ended: (status: string, text: string) => void;
}

/** The client's side of one moderation stream. */
export interface OpenStream {
  send(message: StreamRequest): void;
  /** Sends what is no message of a stream. */
  sendNonsense(): void;
  /** Takes leave after the final verdict. */
  end(): void;
  /** Disconnects. */
  leave(): void;
}

/** A client of its own, without retries or shared connections. Opens one stream after another. */
export interface StreamClient {
  open(events: StreamEvents): OpenStream;
  close(): void;
}

/** The message of a chunk, or, with a chunk of null, the one that ends the stream. */
export function chunkMessage(seq: number, chunk: string | null): StreamRequest {
  return { streamId: '', seq, prompt: null, chunk, endOfStream: chunk === null, cadence: null };
}
