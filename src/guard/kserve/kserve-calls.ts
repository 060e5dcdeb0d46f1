import type { CallOptions } from '../protocol/connection.ts';
import type { StreamEvents, StreamTransport } from '../streams/stream-transport.ts';
import type { TensorLayout } from '../tensors/encode-request.ts';
import type { InferRequest, InferResponse, WireModelConfig, WireModelMetadata } from '../tensors/protocol.ts';

/** Max size of any reply, in bytes, uncompressed: enough for a version reply of 1 MiB, or 4096 rows. */
export const MAX_REPLY_BYTES = 2 * 1024 * 1024;

/**
 * Max rows of one request, whatever max batch size the model declares: no more are in flight at one endpoint anyway.
 */
export const MAX_ROWS_PER_REQUEST = 4096;

/** Max size of a readiness reply, in bytes. */
export const MAX_READINESS_REPLY_BYTES = 4 * 1024;

/**
 * Max size of a model configuration, in bytes. A real one has a few thousand. Decoding can need up to 200 times the
 * memory.
 */
export const MAX_CONFIG_REPLY_BYTES = 256 * 1024;

const MAX_VERDICT_BASE_BYTES = 64 * 1024;
const MAX_VERDICT_ROW_BYTES = 480;

/** Max size of a reply with verdicts. The contract's outputs take about 100 bytes per row; a guard may add outputs. */
export function maxVerdictReplyBytes(rows: number): number {
  return MAX_VERDICT_BASE_BYTES + rows * MAX_VERDICT_ROW_BYTES;
}

/**
 * The calls of the KServe v2 protocol that a guard client makes about the model `guard`, over any transport. They
 * reject with `CallError`, or with the signal's reason once it is aborted.
 */
export interface KserveCalls {
  /** Name of the metadata call in this transport, for messages. */
  readonly metadataCall: string;
  serverReady(options: CallOptions): Promise<boolean>;
  modelReady(options: CallOptions): Promise<boolean>;
  /** Triton's model configuration extension. Null when the server does not implement it, or answers without one. */
  modelConfig(options: CallOptions): Promise<WireModelConfig | null>;
  modelMetadata(options: CallOptions): Promise<WireModelMetadata>;
  /** `maxReplyBytes` is the max size of a valid reply. A larger one is invalid, and is not decoded. */
  infer(request: InferRequest, maxReplyBytes: number, options: CallOptions): Promise<InferResponse>;
  /** Starts a moderation stream. Null if the transport has none. */
  readonly stream: ((layout: TensorLayout, events: StreamEvents) => StreamTransport) | null;
}
