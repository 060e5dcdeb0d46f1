import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadService } from '../../guard/tensors/service.ts';

/** Their requests hold lists or maps, which can take many times the bytes of the message once decoded. */
const UNDECODED = ['ModelInfer', 'ModelStreamInfer', 'RepositoryModelLoad', 'RepositoryModelUnload'];

/**
 * The service definition, with the requests of UNDECODED left to their handlers, which check them before they decode them.
 * The requests of the other calls hold at most two names.
 */
export function inferenceDefinition(): ServiceDefinition {
  const service = { ...loadService() };
  for (const rpc of UNDECODED) {
    service[rpc] = { ...service[rpc]!, requestDeserialize: (message: Buffer) => message };
  }
  return service;
}
