import type { CallOptions } from '../protocol/connection.ts';
import type { StreamEvents, StreamTransport } from '../streams/stream-transport.ts';
import type { TensorLayout } from '../tensors/encode-request.ts';
import type { InferRequest, InferResponse, WireModelConfig, WireModelMetadata } from '../tensors/protocol.ts';

/**
 * The calls of the KServe v2 protocol that a guard client makes about the model `guard`, over any transport. They reject
 * with `CallError`, or with the signal's reason once it is aborted.
 */
export interface KserveCalls {
  /** Name of the metadata call in this transport, for messages. */
  readonly metadataCall: string;
  serverReady(options: CallOptions): Promise<boolean>;
  modelReady(options: CallOptions): Promise<boolean>;
  /** Triton's model configuration extension. Null when the server does not implement it, or answers without one. */
  modelConfig(options: CallOptions): Promise<WireModelConfig | null>;
  modelMetadata(options: CallOptions): Promise<WireModelMetadata>;
  /** `maxReplyBytes`: max size of a valid reply. A larger one is invalid, and is not decoded. */
  infer(request: InferRequest, maxReplyBytes: number, options: CallOptions): Promise<InferResponse>;
  /** Starts a moderation stream. Null: the transport has none. */
  readonly stream: ((layout: TensorLayout, events: StreamEvents) => StreamTransport) | null;
}
