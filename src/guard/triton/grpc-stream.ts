import { type ClientDuplexStream, type ServiceError, status } from '@grpc/grpc-js';
import { classifyGrpc, unreadableReply } from '../faults/classify.ts';
import { maxVerdictReplyBytes } from '../kserve/kserve-calls.ts';
import { CallError } from '../protocol/call-error.ts';
import type { StreamEvents, StreamTransport } from '../streams/stream-transport.ts';
import type { TensorLayout } from '../tensors/encode-request.ts';
import type { InferRequest } from '../tensors/protocol.ts';
import { encodeStreamRequest, decodeStreamVerdict } from '../tensors/stream/stream-tensors.ts';
import type { StreamRequest, StreamVerdict } from '../tensors/stream/stream-messages.ts';
import { decodeStreamInferResponse } from '../tensors/service.ts';

/** `hasStarted` tells whether the server had started to reply. */
type Classify = (error: ServiceError, hasStarted: boolean) => CallError;

/** A moderation stream over one call of ModelStreamInfer. */
export class GrpcStream implements StreamTransport {
  readonly #call: ClientDuplexStream<InferRequest, Buffer>;
  readonly #layout: TensorLayout;
  readonly #events: StreamEvents;
  readonly #classify: Classify;
  #hasStarted = false;
  #isOver = false;

  constructor(
    call: ClientDuplexStream<InferRequest, Buffer>,
    layout: TensorLayout,
    events: StreamEvents,
    classify: Classify,
  ) {
    this.#call = call;
    this.#layout = layout;
    this.#events = events;
    this.#classify = classify;
    call.once('metadata', () => (this.#hasStarted = true));
    call.on('data', (message: Buffer) => this.#read(message));
    call.on('drain', () => {
      if (!this.#isOver) this.#events.drained();
    });
    call.on('end', () => {
      if (!this.#isOver) this.#finish(null);
    });
    // Never removed: the status of a cancelled call arrives later.
    call.on('error', (error: ServiceError) => {
      if (!this.#isOver) this.#finish(this.#classify(error, this.#hasStarted));
    });
  }

  write(request: StreamRequest): boolean {
    const message = encodeStreamRequest(request, this.#layout);
    if (!request.endOfStream) return this.#call.write(message);
    // Node emits no `drain` after the end, and nothing would wait for it.
    this.#call.end(message);
    return true;
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call.cancel();
  }

  #read(message: Buffer): void {
    if (this.#isOver) return;
    const reply = decodeReply(message);
    if (reply instanceof CallError) {
      this.close();
      this.#events.failed(reply);
    } else this.#events.verdict(reply.verdict, reply.modelVersion);
  }

  #finish(error: CallError | null): void {
    this.#isOver = true;
    if (error === null) this.#events.ended();
    else this.#events.failed(error);
  }
}

function decodeReply(
  message: Buffer,
): { readonly verdict: StreamVerdict; readonly modelVersion: string } | CallError {
  if (message.length > maxVerdictReplyBytes(1)) return unreadableReply();
  try {
    const { errorMessage, response } = decodeStreamInferResponse(message);
    // The server ignored the request for a status: the error can only be classified by its text.
    if (errorMessage !== '')
      return new CallError('an error without a status', classifyGrpc(status.UNKNOWN, errorMessage));
    if (response === null) return unreadableReply();
    return { verdict: decodeStreamVerdict(response), modelVersion: response.model_version };
  } catch {
    // The error is dropped: its text could quote the message.
    return unreadableReply();
  }
}
