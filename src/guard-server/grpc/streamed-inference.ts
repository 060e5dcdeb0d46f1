import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import { isStreamRequest } from '../../guard/tensors/stream/stream-tensors.ts';
import type { ModelReply } from '../contract/model.ts';
import { invalidRequest, RequestError } from '../contract/request-error.ts';
import type { GuardService } from '../service/guard-service.ts';
import { inferResponse, readInferRequest } from './infer-message.ts';
import type { StreamCall, StreamInferCall, StreamInferReply } from './stream-infer.ts';

/** Max unanswered requests of a call; further messages are not read. */
const MAX_PENDING = 256;

/** A request, with its reply once there is one. */
interface Pending {
  reply: StreamInferReply | null;
  withdraw: () => void;
}

/**
 * Triton's ordinary streamed inference: a reply for each request, in the order of the requests. An error is a reply
 * with `error_message` and no tensors; the call goes on. It ends when the client has ended and everything is answered.
 */
export class StreamedInference implements StreamCall {
  readonly #call: StreamInferCall;
  readonly #service: GuardService;
  readonly #pending: Pending[] = [];
  #isBlocked = false;
  #hasClientEnded = false;

  constructor(call: StreamInferCall, service: GuardService) {
    this.#call = call;
    this.#service = service;
    call.on('drain', () => {
      this.#isBlocked = false;
      this.#answer();
    });
  }

  receive(message: Buffer): void {
    const pending: Pending = { reply: null, withdraw: () => {} };
    this.#pending.push(pending);
    try {
      const received = readInferRequest(message);
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
    if (this.#pending.length >= MAX_PENDING) this.#call.pause();
  }

  clientEnded(): void {
    this.#hasClientEnded = true;
    this.#answer();
  }

  cancelled(): void {
    for (const { withdraw } of this.#pending) withdraw();
    this.#pending.length = 0;
  }

  /** Sends the replies that are next in order, as fast as the client reads them. */
  #answer(): void {
    if (this.#call.cancelled || this.#call.writableEnded) return;
    for (let next = this.#pending[0]; next !== undefined && !this.#isBlocked; next = this.#pending[0]) {
      if (next.reply === null) break;
      this.#pending.shift();
      this.#isBlocked = !this.#call.write(next.reply);
    }
    if (this.#pending.length < MAX_PENDING) this.#call.resume();
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
