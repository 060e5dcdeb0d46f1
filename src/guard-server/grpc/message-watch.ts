import { constants, type ServerHttp2Stream } from 'node:http2';
import { status, type ServerInterceptingCallInterface } from '@grpc/grpc-js';
import type { CallMemory } from '../service/call-memory.ts';
import type { CallStatus } from './status.ts';

/** Compressed-Flag and Message-Length in front of each message (gRPC over HTTP/2, Length-Prefixed-Message). */
const PREFIX_BYTES = 5;

/** Memory of a piece of a message that arrives, besides its bytes: 160 measured for a DATA frame of one byte. */
const PIECE_BYTES = 256;

/** Max factor by which deflate and gzip compress (https://zlib.net/zlib_tech.html). */
const MAX_RATIO = 1032;

/** How long grpc-js may go on decompressing the message of a call that is over, in milliseconds. */
const DECOMPRESSING_MS = 10_000;

/** How long a client may take to end a stream that was answered, in milliseconds. */
const TRAILERS_MS = 1000;

/** A message that has arrived and was not delivered. */
interface Arrived {
  /** What it counts. */
  readonly bytes: number;
  /** What it counts besides until it is delivered: what it may decompress to. */
  readonly inflated: number;
}

/** A message of a stream, which counts until its handler calls `release`, once. */
export interface HeldMessage {
  readonly bytes: Buffer;
  readonly release: () => void;
}

/**
 * Counts the bytes one call holds: mostly its messages as they arrive, which grpc-js buffers whole before any handler
 * sees them. A message counts until the call is over; on a stream, until its handler releases it.
 * A compressed message counts as large as it can be until grpc-js has decompressed it, then as large as it is.
 * `refuse` is called at most once: with RESOURCE_EXHAUSTED when there is no room for more bytes, with UNIMPLEMENTED for the
 * second message of a call that has one.
 */
export class MessageWatch {
  readonly #room: CallMemory;
  readonly #stream: ServerHttp2Stream;
  readonly #isStream: boolean;
  readonly #maxBytes: number;
  readonly #refuse: (status: CallStatus) => void;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  /** Bytes of the message still to come, without its prefix; known once the prefix has arrived. */
  #left = 0;
  /** For the pieces of the message still to come. */
  #pieceBytes = 0;
  readonly #undelivered: Arrived[] = [];
  #messages = 0;
  #closing: NodeJS.Timeout | undefined;
  #taken = 0;
  #isOver = false;

  /** `maxBytes`: of a message, decompressed, which grpc-js holds to. */
  constructor(
    call: ServerInterceptingCallInterface,
    { room, isStream, maxBytes }: { room: CallMemory; isStream: boolean; maxBytes: number },
    refuse: (status: CallStatus) => void,
  ) {
    this.#room = room;
    this.#isStream = isStream;
    this.#maxBytes = maxBytes;
    this.#refuse = refuse;
    this.#stream = streamOf(call);
    // Runs before grpc-js sees the data. Unlike `on`, prependListener does not switch the stream to flowing mode.
    this.#stream.prependListener('data', this.#arrived);
    this.#stream.once('close', () => {
      clearTimeout(this.#closing);
      this.end();
    });
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
    const inflating = this.#undelivered.splice(0).reduce((sum, { inflated }) => sum + inflated, 0);
    if (inflating > 0) setTimeout(() => this.#room.giveBack(inflating), DECOMPRESSING_MS).unref();
    this.#room.giveBack(this.#taken - inflating);
    this.#taken = 0;
  }

  /** The oldest message was decompressed. Returns what it counts. */
  delivered(message: unknown): number {
    const { bytes, inflated } = this.#undelivered.shift() ?? { bytes: 0, inflated: 0 };
    if (inflated === 0 || this.#isOver) return bytes;
    const counted = Buffer.isBuffer(message) ? message.length : inflated;
    this.#room.giveBack(inflated - counted);
    this.#taken -= inflated - counted;
    return bytes + counted;
  }

  /** The handler of a stream gets the oldest message. */
  held(bytes: Buffer): HeldMessage {
    const counted = this.delivered(bytes);
    const release = (): void => {
      if (this.#isOver) return;
      this.#room.giveBack(counted);
      this.#taken -= counted;
    };
    return { bytes, release };
  }

  /** Whether something was sent that the client has not taken. */
  get isSendBlocked(): boolean {
    return this.#stream.writableLength > 0;
  }

  /** Resets the stream. */
  cancel(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /**
   * Tells the client to send nothing more: the call has been answered. Trap: resetting a stream drops trailers that are
   * still queued, and with them the status. The client of a stream, which may not have ended yet, has time to do so.
   */
  stopSending(): void {
    if (!this.#isStream) this.#reset();
    else if (this.#closing === undefined && !this.#stream.destroyed)
      this.#closing = setTimeout(() => this.#reset(), TRAILERS_MS);
  }

  #reset(): void {
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
    const full = this.#hold(data.length + PIECE_BYTES);
    if (full !== null) return full;
    this.#pieceBytes += PIECE_BYTES;
    for (let at = 0; at < data.length;) {
      if (this.#messages > 0 && !this.#isStream) {
        return { code: status.UNIMPLEMENTED, details: 'calls of this method have a single message' };
      }
      if (this.#prefixBytes < PREFIX_BYTES) {
        const taken = data.copy(this.#prefix, this.#prefixBytes, at);
        this.#prefixBytes += taken;
        at += taken;
        if (this.#prefixBytes < PREFIX_BYTES) break;
        this.#left = this.#prefix.readUInt32BE(1);
      }
      const taken = Math.min(this.#left, data.length - at);
      this.#left -= taken;
      at += taken;
      const refusal = this.#left === 0 ? this.#complete() : null;
      if (refusal !== null) return refusal;
    }
    return null;
  }

  #complete(): CallStatus | null {
    const length = this.#prefix.readUInt32BE(1);
    const inflated = this.#prefix[0] === 0 ? 0 : Math.min(this.#maxBytes, length * MAX_RATIO);
    const full = this.#hold(inflated);
    if (full !== null) return full;
    this.#undelivered.push({ bytes: PREFIX_BYTES + length + this.#pieceBytes, inflated });
    this.#pieceBytes = 0;
    this.#prefixBytes = 0;
    this.#messages++;
    return null;
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
