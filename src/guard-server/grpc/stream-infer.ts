import type { handleBidiStreamingCall } from '@grpc/grpc-js';
import type { InferResponse } from '../../guard/tensors/protocol.ts';
import { isStreamRequest } from '../../guard/tensors/stream/stream-tensors.ts';
import type { ReceivedRequest } from '../../guard/tensors/wire/infer-messages.ts';
import type { GuardService } from '../service/guard-service.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
import { readInferRequest } from './infer-message.ts';
import { ModerationCall } from './moderation-call.ts';
import { statusOf } from './status.ts';
import { StreamedInference } from './streamed-inference.ts';

/** A message of the server. In a reply, either the error is set, or the response has tensors. */
export interface StreamInferReply {
  readonly error_message: string;
  readonly infer_response: Partial<InferResponse> & {
    readonly id: string;
    /** Values are InferParameter. */
    readonly parameters?: Readonly<Record<string, object>>;
  };
}

/** The kind of a ModelStreamInfer call, known from its first message. */
export interface StreamCall {
  receive(message: Buffer): void;
  /** Called when the client will send nothing more. */
  clientEnded(): void;
  /** Called when the call is over. */
  cancelled(): void;
}

/** A call whose client messages arrive undecoded (`inferenceDefinition`). */
export type StreamInferCall = Parameters<handleBidiStreamingCall<Buffer, StreamInferReply>>[0];

/**
 * Handles ModelStreamInfer: a moderation stream if the first message belongs to one, otherwise ordinary streamed
 * inference. A first message that cannot be read ends the call.
 */
export function streamInfer(
  service: GuardService,
  streams: ModerationStreams,
): handleBidiStreamingCall<Buffer, StreamInferReply> {
  return (call) => {
    let served: StreamCall | null = null;
    call.on('data', (message: Buffer) => {
      if (served === null) {
        try {
          served = kindOf(call, readInferRequest(message), service, streams);
        } catch (error) {
          call.emit('error', statusOf(error));
          call.removeAllListeners('data');
          return;
        }
      }
      served.receive(message);
    });
    call.once('end', () => {
      if (served === null) call.end();
      else served.clientEnded();
    });
    call.once('cancelled', () => served?.cancelled());
  };
}

/** Determines the kind of a call. Throws RequestError when a moderation stream names a model that is not served. */
function kindOf(
  call: StreamInferCall,
  first: ReceivedRequest,
  service: GuardService,
  streams: ModerationStreams,
): StreamCall {
  if (!isStreamRequest(first)) return new StreamedInference(call, service);
  service.requireModel(first.model_name, first.model_version);
  return new ModerationCall(call, streams, service.layout);
}
