import { status } from '@grpc/grpc-js';
import type { TensorLayout } from '../../guard/tensors/encode-request.ts';
import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import { decodeStreamRequest, encodeStreamVerdict } from '../../guard/tensors/stream/stream-tensors.ts';
import { InvalidStreamMessage } from '../../guard/tensors/stream/stream-messages.ts';
import type { ModerationStream, StreamError, StreamSink } from '../../http/streams/moderation-stream.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
import type { PrefixReport } from '../../http/streams/prefix-judge.ts';
import { RequestError } from '../contract/request-error.ts';
import { readInferRequest } from './infer-message.ts';
import type { StreamCall, StreamInferCall } from './stream-infer.ts';

/** A moderation stream over ModelStreamInfer: verdicts are sent as they arrive, and an error ends the call. */
export class ModerationCall implements StreamCall, StreamSink {
  readonly #call: StreamInferCall;
  readonly #layout: TensorLayout;
  readonly #stream: ModerationStream;
  /** Id of the last message; replies carry it. */
  #id = '';

  constructor(call: StreamInferCall, streams: ModerationStreams, layout: TensorLayout) {
    this.#call = call;
    this.#layout = layout;
    this.#stream = streams.start(call.getPeer(), this);
    call.on('drain', () => this.#stream.resume());
  }

  /** Handles a message. The stream limits the text that it keeps. */
  receive(message: Buffer): void {
    let request;
    try {
      const received = readInferRequest(message);
      this.#id = received.id;
      request = decodeStreamRequest(received);
    } catch (error) {
      this.#stream.receiveInvalid(faultOf(error));
      return;
    }
    this.#stream.receive(request);
  }

  clientEnded(): void {
    this.#stream.clientEnded();
  }

  cancelled(): void {
    this.#stream.clientLeft();
  }

  verdict({ verdict, modelVersion }: PrefixReport): boolean {
    const parameters = { triton_final_response: { bool_param: verdict.isFinal } };
    const tensors = encodeStreamVerdict(verdict, this.#layout);
    return this.#call.write({
      error_message: '',
      infer_response: {
        ...{ model_name: MODEL_NAME, model_version: modelVersion, id: this.#id, parameters },
        ...tensors,
      },
    });
  }

  ended(error: StreamError | null): void {
    if (error === null) this.#call.end();
    else this.#call.emit('error', { code: status[error.status], details: error.text });
  }
}

function faultOf(error: unknown): string {
  if (error instanceof InvalidStreamMessage) return error.message;
  if (error instanceof RequestError) return error.message;
  throw error;
}
