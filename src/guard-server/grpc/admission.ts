import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { bearsToken } from '../../http/bearer-token.ts';
import type { CallMemory } from '../service/call-memory.ts';
import { MessageWatch } from './message-watch.ts';
import type { CallStatus } from './status.ts';

interface AdmissionOptions {
  /** Required of every call; null: no token is required. */
  readonly token: string | null;
  readonly room: CallMemory;
  /** Max bytes of a message, decompressed. */
  readonly messageBytes: number;
  /** For a message to arrive, and for its client to read the reply. */
  readonly messageTimeoutMs: number;
  /** A call was admitted on the connection from this address and port. */
  readonly admitted: (remoteAddress: string | undefined, remotePort: number | undefined) => void;
  /** A call was refused by its headers on the connection from this address and port. */
  readonly refused: (remoteAddress: string | undefined, remotePort: number | undefined) => void;
}

/**
 * Admits a call by its headers, before a byte of its message is read, and bounds its memory. A refused call ends at once,
 * and its client is told to stop sending.
 */
export function admission(options: AdmissionOptions): ServerInterceptor {
  return ({ requestStream }, call) => {
    ignoreDistantDeadline(call);
    const guarded = new GuardedCall(call, options, requestStream);
    return new ServerInterceptingCall(call, {
      sendMessage: (message, next) => {
        guarded.answered();
        next(message);
      },
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => guarded.admit(metadata, proceed),
          onReceiveMessage: (message, proceed) => proceed(guarded.arrived(message)),
          // grpc-js also calls this at the end of an answered call.
          onCancel: () => guarded.over(),
        }),
    });
  };
}

/** Memory of an open call besides its headers and its message: about 8 KiB measured. */
const CALL_BYTES = 12 * 1024;

/** Overhead per header field (RFC 9113, 6.5.2). */
const HEADER_BYTES = 32;

class GuardedCall {
  readonly #call: ServerInterceptingCallInterface;
  readonly #options: AdmissionOptions;
  readonly #isStream: boolean;
  readonly #watch: MessageWatch;
  #messagesSent = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: ServerInterceptingCallInterface, options: AdmissionOptions, isStream: boolean) {
    this.#call = call;
    this.#options = options;
    this.#isStream = isStream;
    const { room, messageBytes: maxBytes } = options;
    this.#watch = new MessageWatch(call, { room, isStream, maxBytes }, (refusal) => this.#refuse(refusal));
  }

  admit(metadata: Metadata, proceed: (metadata: Metadata) => void): void {
    const { token, messageTimeoutMs, admitted, refused } = this.#options;
    const { remoteAddress, remotePort } = this.#call.getConnectionInfo();
    if (token !== null && !carriesToken(metadata, token)) {
      this.#refuse({ code: status.UNAUTHENTICATED, details: 'this server needs a bearer token' });
      refused(remoteAddress, remotePort);
      return;
    }
    if (!this.#watch.take(CALL_BYTES + bytesOf(metadata))) return;
    admitted(remoteAddress, remotePort);
    this.#timer = setTimeout(() => {
      this.#refuse({ code: status.DEADLINE_EXCEEDED, details: 'the message took too long to arrive' });
    }, messageTimeoutMs);
    proceed(metadata);
  }

  /**
   * Returns what the handler gets: of a stream, whose messages are not decoded, a HeldMessage. The handler of a stream
   * bounds the time from its first message on.
   */
  arrived(message: unknown): unknown {
    if (this.#messagesSent === 0) clearTimeout(this.#timer);
    if (this.#isStream) return this.#watch.held(message as Buffer);
    this.#watch.delivered(message);
    return message;
  }

  /** A client that does not read its reply would occupy the call's memory forever. */
  answered(): void {
    this.#messagesSent++;
    if (!this.#isStream) {
      this.#timer = setTimeout(() => this.#watch.cancel(), this.#options.messageTimeoutMs);
    } else if (this.#messagesSent === 1) this.#watchReading(0);
  }

  /** Messages of a stream are sent one by one: each waits until its client has taken the one before. */
  #watchReading(sentBefore: number): void {
    this.#timer = setTimeout(() => {
      if (this.#watch.isSendBlocked && this.#messagesSent === sentBefore) this.#watch.cancel();
      else this.#watchReading(this.#messagesSent);
    }, this.#options.messageTimeoutMs);
  }

  over(): void {
    this.#end();
    this.#watch.stopSending();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#watch.end();
  }

  #refuse({ code, details }: CallStatus): void {
    this.#end();
    this.#call.sendStatus({ code, details, metadata: null });
    this.#watch.stopSending();
  }
}

/** Size of a call's headers. */
function bytesOf(metadata: Metadata): number {
  let bytes = 0;
  for (const [name, values] of Object.entries(metadata.toHttp2Headers())) {
    for (const value of [values ?? []].flat()) bytes += name.length + String(value).length + HEADER_BYTES;
  }
  return bytes;
}

/** Whether a call carries `authorization: Bearer <token>`. */
export function carriesToken(metadata: Metadata, token: string): boolean {
  const [given] = metadata.get('authorization');
  return bearsToken(typeof given === 'string' ? given : undefined, token);
}

/** Less than what any distant deadline is off by, and more than the age of a call that is just being admitted. */
const TOLERANCE_MS = 1000;

/**
 * Keeps a call whose deadline is more than 2^31 ms away, which is how clients say that they wait as long as it takes. Trap:
 * grpc-js keeps 32 bits of the time that is left. What is negative then is over at once, so it would end the call with
 * DEADLINE_EXCEEDED, once. To be called when a call begins.
 */
function ignoreDistantDeadline(call: ServerInterceptingCallInterface): void {
  if (Number(call.getDeadline()) > Date.now() - TOLERANCE_MS) return;
  const send = call.sendStatus.bind(call);
  call.sendStatus = (ended) => {
    call.sendStatus = send;
    if (ended.code !== status.DEADLINE_EXCEEDED) send(ended);
  };
}
