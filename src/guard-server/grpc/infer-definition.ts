import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadService } from '../../guard/tensors/service.ts';

/**
 * The service as the server offers it: the message of ModelInfer reaches its handler as it came, to be read within
 * bounds (guard/tensors/wire). The messages of the other calls hold two names at most.
 */
export function inferenceDefinition(): ServiceDefinition {
  const service = loadService();
  return { ...service, ModelInfer: { ...service['ModelInfer']!, requestDeserialize: (message) => message } };
}
