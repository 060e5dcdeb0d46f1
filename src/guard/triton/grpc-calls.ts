import type { KserveCalls } from '../kserve/kserve-calls.ts';
import { MAX_CONFIG_REPLY_BYTES, MAX_READINESS_REPLY_BYTES } from '../kserve/reply-bounds.ts';
import { UnimplementedCall } from '../protocol/call-error.ts';
import { MODEL_NAME } from '../tensors/protocol.ts';
import type { GuardChannel } from './channel.ts';

/** The calls of the KServe v2 protocol over gRPC. */
export function grpcCalls(channel: GuardChannel): KserveCalls {
  const model = { name: MODEL_NAME };
  return {
    metadataCall: 'ModelMetadata',
    serverReady: async (options) =>
      (await channel.call('ServerReady', {}, MAX_READINESS_REPLY_BYTES, options)).ready,
    modelReady: async (options) =>
      (await channel.call('ModelReady', model, MAX_READINESS_REPLY_BYTES, options)).ready,
    modelConfig: async (options) => {
      try {
        return (await channel.call('ModelConfig', model, MAX_CONFIG_REPLY_BYTES, options)).config;
      } catch (error) {
        if (error instanceof UnimplementedCall) return null;
        throw error;
      }
    },
    modelMetadata: (options) => channel.call('ModelMetadata', model, MAX_CONFIG_REPLY_BYTES, options),
    stream: (layout, events) => channel.stream(layout, events),
    infer: (request, maxReplyBytes, options) => channel.call('ModelInfer', request, maxReplyBytes, options),
  };
}
