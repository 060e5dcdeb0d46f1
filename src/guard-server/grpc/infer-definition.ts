import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadService } from '../../guard/tensors/service.ts';

/**
 * The service definition with ModelInfer requests left undecoded: their handler decodes them within bounds
 * (guard/tensors/wire). The requests of the other calls hold at most two names.
 */
export function inferenceDefinition(): ServiceDefinition {
  const service = loadService();
  return { ...service, ModelInfer: { ...service['ModelInfer']!, requestDeserialize: (message) => message } };
}
