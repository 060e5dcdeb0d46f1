import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { checkToken } from './access.ts';
import { RequestError } from '../contract/request-error.ts';
import type { BytesInHand } from './bytes-in-hand.ts';
import { MessageWatch } from './message-watch.ts';

export interface AdmissionOptions {
  /** Needed by every call; null: none is. */
  readonly token: string | null;
  readonly room: BytesInHand;
  /** How long a message may take to arrive, and a reply to be taken, in milliseconds. */
  readonly messageTimeoutMs: number;
  /** A call was let in, on the connection from this port of this address. */
  readonly admitted: (remoteAddress: string | undefined, remotePort: number | undefined) => void;
  /** A call was refused by its headers, on the connection from there. */
  readonly refused: (remoteAddress: string | undefined, remotePort: number | undefined) => void;
}

/**
 * Lets a call in by its headers, before a byte of its message is read, and bounds what its message may take. A call
 * that is not let in gets its status at once, and its client is told to send nothing more.
 */
export function admission(options: AdmissionOptions): ServerInterceptor {
  return (_method, call) => {
    const guarded = new GuardedCall(call, options);
    return new ServerInterceptingCall(call, {
      sendMessage: (message, next) => {
        guarded.answered();
        next(message);
      },
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => guarded.admit(metadata, proceed),
          onReceiveMessage: (message, proceed) => {
            guarded.arrived();
            proceed(message);
          },
          // Also at the end of a call that was answered.
          onCancel: () => guarded.over(),
        }),
    });
  };
}

/** What the server keeps of an open call besides its headers and its message: some 8 KiB were measured. */
const CALL_BYTES = 12 * 1024;

/** What a header takes besides its name and its value (RFC 9113, 6.5.2). */
const HEADER_BYTES = 32;

class GuardedCall {
  readonly #call: ServerInterceptingCallInterface;
  readonly #options: AdmissionOptions;
  readonly #watch: MessageWatch;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: ServerInterceptingCallInterface, options: AdmissionOptions) {
    this.#call = call;
    this.#options = options;
    this.#watch = new MessageWatch(call, options.room, (error) => this.#refuse(error));
  }

  admit(metadata: Metadata, proceed: (metadata: Metadata) => void): void {
    const { token, messageTimeoutMs, admitted, refused } = this.#options;
    const { remoteAddress, remotePort } = this.#call.getConnectionInfo();
    try {
      if (token !== null) checkToken(metadata, token);
    } catch (error) {
      this.#refuse(error as RequestError);
      refused(remoteAddress, remotePort);
      return;
    }
    if (!this.#watch.take(CALL_BYTES + bytesOf(metadata))) return;
    admitted(remoteAddress, remotePort);
    this.#timer = setTimeout(() => {
      this.#refuse(new RequestError(status.DEADLINE_EXCEEDED, 'the message took too long to arrive'));
    }, messageTimeoutMs);
    proceed(metadata);
  }

  arrived(): void {
    clearTimeout(this.#timer);
  }

  /** A client that does not take its reply would keep what the call holds for ever. */
  answered(): void {
    this.#timer = setTimeout(() => this.#watch.cancel(), this.#options.messageTimeoutMs);
  }

  over(): void {
    this.#end();
    this.#watch.stopSending();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#watch.end();
  }

  #refuse({ status: code, message }: RequestError): void {
    this.#end();
    this.#call.sendStatus({ code, details: message, metadata: null });
    this.#watch.stopSending();
  }
}

/** Of the headers of a call. */
function bytesOf(metadata: Metadata): number {
  let bytes = 0;
  for (const [name, values] of Object.entries(metadata.toHttp2Headers())) {
    for (const value of [values ?? []].flat()) bytes += name.length + String(value).length + HEADER_BYTES;
  }
  return bytes;
}
