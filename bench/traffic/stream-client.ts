import type { StreamRequest, StreamVerdict } from '../../src/guard/tensors/stream/stream-messages.ts';

/** Callbacks of a moderation stream to its client. */
export interface StreamEvents {
  readonly verdict: (verdict: StreamVerdict) => void;
  /**
   * Called once, last. `status` is a gRPC status name, `OK` for a complete stream, or another cause; `text` is that of
   * the error.
   */
  readonly ended: (status: string, text: string) => void;
}

/** The client's side of one moderation stream. */
export interface OpenStream {
  send(message: StreamRequest): void;
  /** Sends data that is not a message of a stream. */
  sendNonsense(): void;
  /** Closes the stream properly after the final verdict. */
  end(): void;
  /** Disconnects. */
  leave(): void;
}

/** A separate client, without retries or shared connections. Opens one stream after another. */
export interface StreamClient {
  open(events: StreamEvents): OpenStream;
  close(): void;
}

/** The message of a chunk, or the one that ends the stream if the chunk is null. */
export function chunkMessage(seq: number, chunk: string | null): StreamRequest {
  return { streamId: '', seq, prompt: null, chunk, endOfStream: chunk === null, cadence: null };
}
