import type { CallError } from '../protocol/call-error.ts';
import type { StreamRequest, StreamVerdict } from '../tensors/stream/stream-messages.ts';

/**
 * Events that a transport reports to the stream it carries. Never called while the transport connects or takes a
 * message.
 */
export interface StreamEvents {
  /** A verdict arrived. `modelVersion` is the model version of its reply; null if replies do not name one. */
  verdict(verdict: StreamVerdict, modelVersion: string | null): void;
  /** Everything written was taken, after a `write` that returned false. */
  drained(): void;
  /** The server ended the stream, without an error. The last event. */
  ended(): void;
  /** The stream failed. The last event. */
  failed(error: CallError): void;
}

/** One moderation stream on the wire. The message with `endOfStream` is the last one written. */
export interface StreamTransport {
  /** Sends a message. Returns false if the next one must wait for `drained`, which bounds the unsent data. */
  write(request: StreamRequest): boolean;
  /** Ends the stream at once and releases its connection or call. No event follows. Idempotent. */
  close(): void;
}

/** Starts a stream. It need not be connected yet: a failed connection is reported as `failed`. */
export type ConnectStream = (events: StreamEvents) => StreamTransport;
