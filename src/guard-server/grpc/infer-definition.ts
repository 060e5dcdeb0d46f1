import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadService } from '../../guard/tensors/service.ts';

/**
 * The service definition with the requests of ModelInfer and ModelStreamInfer left undecoded: their handlers decode them
 * within bounds (guard/tensors/wire). The requests of the other calls hold at most two names.
 */
export function inferenceDefinition(): ServiceDefinition {
  const service = loadService();
  const undecoded = { requestDeserialize: (message: Buffer) => message };
  return {
    ...service,
    ModelInfer: { ...service['ModelInfer']!, ...undecoded },
    ModelStreamInfer: { ...service['ModelStreamInfer']!, ...undecoded },
  };
}
