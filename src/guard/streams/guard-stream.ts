import type { StreamVerdict } from '../tensors/stream/stream-messages.ts';

/** A moderation stream of text that is being generated. Every error is a `GuardStreamError`, or the signal's reason. */
export interface GuardStream {
  /**
   * Sends the next chunk, which must not be empty. Resolves when the transport took it. Must not be called again
   * earlier, which bounds the unsent text. Chunks are numbered from 0.
   */
  send(chunk: string): Promise<void>;
  /** Ends the text. Resolves when the transport took the message. */
  end(): Promise<void>;
  /**
   * The verdicts as they arrive, the final one last. Throws when the stream fails, after the verdicts that came before.
   * A caller that reads too slowly misses verdicts, but never the latest. Stopping the iteration ends the stream.
   */
  readonly verdicts: AsyncIterable<StreamVerdict>;
}
