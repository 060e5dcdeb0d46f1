import { constants, type ServerHttp2Stream } from 'node:http2';
import { status, type ServerInterceptingCallInterface } from '@grpc/grpc-js';
import type { CallMemory } from '../service/call-memory.ts';
import type { CallStatus } from './status.ts';

/** Compressed-Flag and Message-Length in front of each message (gRPC over HTTP/2, Length-Prefixed-Message). */
const PREFIX_BYTES = 5;

/**
 * Counts the bytes one call holds: mostly its message as it arrives, which grpc-js buffers whole before any handler
 * sees it. `refuse` is called at most once: with RESOURCE_EXHAUSTED when there is no room for more bytes, with
 * UNIMPLEMENTED for a compressed message, which may hold a thousand times the bytes counted, or a second message.
 */
export class MessageWatch {
  readonly #room: CallMemory;
  readonly #stream: ServerHttp2Stream;
  readonly #refuse: (status: CallStatus) => void;
  readonly #prefix: number[] = [];
  /** Bytes of the message still to come, without its prefix; known once the prefix has arrived. */
  #left = 0;
  #taken = 0;
  #isOver = false;

  constructor(call: ServerInterceptingCallInterface, room: CallMemory, refuse: (status: CallStatus) => void) {
    this.#room = room;
    this.#refuse = refuse;
    this.#stream = streamOf(call);
    // Runs before grpc-js sees the data. Unlike `on`, prependListener does not switch the stream to flowing mode.
    this.#stream.prependListener('data', this.#arrived);
    this.#stream.once('close', () => this.end());
  }

  /** Counts what the call holds besides its message. Returns false, and refuses the call, when there is no room. */
  take(bytes: number): boolean {
    const refusal = this.#hold(bytes);
    if (refusal === null) return true;
    this.end();
    this.#refuse(refusal);
    return false;
  }

  /** Releases the bytes: the call is over, or its stream has closed. May be called again. */
  end(): void {
    this.#isOver = true;
    this.#stream.off('data', this.#arrived);
    this.#room.giveBack(this.#taken);
    this.#taken = 0;
  }

  /** Resets the stream. */
  cancel(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** Tells the client to send nothing more: the call has been answered. */
  stopSending(): void {
    if (!this.#stream.readableEnded && !this.#stream.destroyed) this.#stream.close();
  }

  readonly #arrived = (data: Buffer): void => {
    if (this.#isOver) return;
    const refusal = this.#count(data);
    if (refusal === null) return;
    this.end();
    this.#refuse(refusal);
  };

  #hold(bytes: number): CallStatus | null {
    if (!this.#room.take(bytes)) {
      return {
        code: status.RESOURCE_EXHAUSTED,
        details: 'open calls hold as much memory as the server allows',
      };
    }
    this.#taken += bytes;
    return null;
  }

  #count(data: Buffer): CallStatus | null {
    const full = this.#hold(data.length);
    if (full !== null) return full;
    let at = 0;
    while (this.#prefix.length < PREFIX_BYTES && at < data.length) {
      this.#prefix.push(data[at++]!);
      if (this.#prefix[0] !== 0) {
        return { code: status.UNIMPLEMENTED, details: 'this server does not support compressed messages' };
      }
      if (this.#prefix.length === PREFIX_BYTES) this.#left = Buffer.from(this.#prefix).readUInt32BE(1);
    }
    this.#left -= data.length - at;
    if (this.#left >= 0) return null;
    return { code: status.UNIMPLEMENTED, details: 'calls of this service have a single message' };
  }
}

/**
 * The HTTP/2 stream of a call, which grpc-js does not expose: there is no other way to see a message as it arrives.
 */
function streamOf(call: ServerInterceptingCallInterface): ServerHttp2Stream {
  const { stream } = call as unknown as { readonly stream?: ServerHttp2Stream };
  if (stream === undefined) throw new Error('the call has no HTTP/2 stream');
  return stream;
}
