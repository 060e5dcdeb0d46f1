import { status } from '@grpc/grpc-js';
import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import { isStreamRequest } from '../../guard/tensors/stream/request-tensors.ts';
import type { ModelReply } from '../contract/model.ts';
import { invalidRequest, RequestError } from '../contract/request-error.ts';
import type { GuardService } from '../service/guard-service.ts';
import { inferResponse, readInferRequest } from './infer-message.ts';
import type { HeldMessage } from './message-watch.ts';
import type { StreamCall, StreamInferCall, StreamInferReply } from './stream-infer.ts';

/** Requests of a call without a reply, and the bytes of their messages; further messages are not read. */
const MAX_PENDING = 256;
const MAX_PENDING_BYTES = 4 * 1024 * 1024;

/** A request, with its reply once there is one. */
interface Pending {
  readonly message: HeldMessage;
  reply: StreamInferReply | null;
  withdraw: () => void;
}

/**
 * Triton's ordinary streamed inference: a reply for each request, in the order of the requests. An error is a reply with
 * `error_message` and no tensors; the call goes on. It ends when the client has ended and everything is answered.
 */
export class StreamedInference implements StreamCall {
  readonly #call: StreamInferCall;
  readonly #service: GuardService;
  readonly #pending: Pending[] = [];
  #pendingBytes = 0;
  readonly #idle: NodeJS.Timeout;
  #isBlocked = false;
  #hasClientEnded = false;

  /** `idleMs`: how long the client may send nothing before it ends the call. */
  constructor(call: StreamInferCall, service: GuardService, idleMs: number) {
    this.#call = call;
    this.#service = service;
    const idle = { code: status.DEADLINE_EXCEEDED, details: 'the client has sent nothing for too long' };
    this.#idle = setTimeout(() => call.emit('error', idle), idleMs);
    call.on('drain', () => {
      this.#isBlocked = false;
      this.#answer();
    });
  }

  receive(message: HeldMessage): void {
    this.#idle.refresh();
    const pending: Pending = { message, reply: null, withdraw: () => {} };
    this.#pending.push(pending);
    this.#pendingBytes += message.bytes.length;
    try {
      const received = readInferRequest(message.bytes);
      if (isStreamRequest(received)) {
        throw invalidRequest(received.id, 'a moderation stream needs a call of its own');
      }
      pending.withdraw = this.#service.infer(received, (reply) => {
        pending.reply = replyOf(received.id, reply);
        this.#answer();
      });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      pending.reply = errorReply('', error);
      this.#answer();
    }
    if (!this.#hasRoom) this.#call.pause();
  }

  clientEnded(): void {
    clearTimeout(this.#idle);
    this.#hasClientEnded = true;
    this.#answer();
  }

  cancelled(): void {
    clearTimeout(this.#idle);
    for (const { withdraw } of this.#pending) withdraw();
    this.#pending.length = 0;
  }

  get #hasRoom(): boolean {
    return this.#pending.length < MAX_PENDING && this.#pendingBytes < MAX_PENDING_BYTES;
  }

  /** Sends the replies whose turn it is, as far as the client reads them. */
  #answer(): void {
    if (this.#call.cancelled || this.#call.writableEnded) return;
    for (let next = this.#pending[0]; next !== undefined && !this.#isBlocked; next = this.#pending[0]) {
      if (next.reply === null) break;
      this.#pending.shift();
      this.#pendingBytes -= next.message.bytes.length;
      next.message.release();
      this.#isBlocked = !this.#call.write(next.reply);
    }
    if (this.#hasRoom) this.#call.resume();
    if (this.#hasClientEnded && this.#pending.length === 0) this.#call.end();
  }
}

function replyOf(id: string, reply: ModelReply): StreamInferReply {
  if (reply.error !== null) return errorReply(id, reply.error);
  const parameters = { triton_final_response: { bool_param: true } };
  return { error_message: '', infer_response: { ...inferResponse(id, reply), parameters } };
}

function errorReply(id: string, { message }: RequestError): StreamInferReply {
  return { error_message: message, infer_response: { model_name: MODEL_NAME, model_version: '', id } };
}
