import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { RequestError } from '../contract/request-error.ts';
import type { BytesInHand } from './bytes-in-hand.ts';

/** A flag and a length go before each message (gRPC over HTTP/2, Length-Prefixed-Message). */
const PREFIX_BYTES = 5;

/**
 * Counts what one call takes: above all its message while it arrives, which grpc-js gathers as a whole before it lets anybody see it.
 * `refuse` is called once, with a RequestError: RESOURCE_EXHAUSTED when there is no room for more bytes, UNIMPLEMENTED
 * for a compressed message, of which a thousandth of the bytes would count, or a second one.
 */
export class MessageWatch {
  readonly #room: BytesInHand;
  readonly #stream: ServerHttp2Stream;
  readonly #refuse: (error: RequestError) => void;
  readonly #prefix: number[] = [];
  /** Of the message, without its prefix; known once the prefix is here. */
  #left = 0;
  #taken = 0;
  #isOver = false;

  constructor(
    call: ServerInterceptingCallInterface,
    room: BytesInHand,
    refuse: (error: RequestError) => void,
  ) {
    this.#room = room;
    this.#refuse = refuse;
    this.#stream = streamOf(call);
    // Before grpc-js sees them. Unlike `on`, this does not make the stream flow.
    this.#stream.prependListener('data', this.#arrived);
    this.#stream.once('close', () => this.end());
  }

  /** Counts what the call takes besides its message. False, and the call is refused, when there is no room for it. */
  take(bytes: number): boolean {
    const error = this.#hold(bytes);
    if (error === null) return true;
    this.end();
    this.#refuse(error);
    return false;
  }

  /** The call is over, or its stream: its bytes count no longer. May be called again. */
  end(): void {
    this.#isOver = true;
    this.#stream.off('data', this.#arrived);
    this.#room.giveBack(this.#taken);
    this.#taken = 0;
  }

  /** Drops the call. */
  cancel(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }

  /** Tells the client to send nothing more: the call has been answered. */
  stopSending(): void {
    if (!this.#stream.readableEnded && !this.#stream.destroyed) this.#stream.close();
  }

  readonly #arrived = (data: Buffer): void => {
    if (this.#isOver) return;
    const error = this.#count(data);
    if (error === null) return;
    this.end();
    this.#refuse(error);
  };

  #hold(bytes: number): RequestError | null {
    if (!this.#room.take(bytes)) {
      return new RequestError(status.RESOURCE_EXHAUSTED, 'the server has as much in hand as it can hold');
    }
    this.#taken += bytes;
    return null;
  }

  #count(data: Buffer): RequestError | null {
    const full = this.#hold(data.length);
    if (full !== null) return full;
    let at = 0;
    while (this.#prefix.length < PREFIX_BYTES && at < data.length) {
      this.#prefix.push(data[at++]!);
      if (this.#prefix[0] !== 0) {
        return new RequestError(status.UNIMPLEMENTED, 'this server takes no compressed messages');
      }
      if (this.#prefix.length === PREFIX_BYTES) this.#left = Buffer.from(this.#prefix).readUInt32BE(1);
    }
    this.#left -= data.length - at;
    if (this.#left >= 0) return null;
    return new RequestError(status.UNIMPLEMENTED, 'a call of this service has one message');
  }
}

/** grpc-js shows the stream of a call to nobody, and nothing else tells what arrives before all of it has. */
function streamOf(call: ServerInterceptingCallInterface): ServerHttp2Stream {
  const { stream } = call as unknown as { readonly stream?: ServerHttp2Stream };
  if (stream === undefined) throw new Error('the call has no HTTP/2 stream');
  return stream;
}
