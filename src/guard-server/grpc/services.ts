import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { loadService } from '../../guard/tensors/service.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
import type { GuardService } from '../service/guard-service.ts';
import { healthDefinition, healthService } from './health-service.ts';
import { inferenceService } from './inference-service.ts';

/** A gRPC service and its handlers. */
export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
}

/** Everything that is served over gRPC. */
export function grpcServices(service: GuardService, streams: ModerationStreams): readonly ServedService[] {
  return [
    { definition: inferenceDefinition(), handlers: inferenceService(service, streams) },
    { definition: healthDefinition(), handlers: healthService(service) },
  ];
}

/** Their requests hold lists or maps, which can take many times the bytes of the message once decoded. */
const UNDECODED = ['ModelInfer', 'ModelStreamInfer', 'RepositoryModelLoad', 'RepositoryModelUnload'];

/**
 * The service definition, with the requests of UNDECODED left to their handlers, which check them before they decode them.
 * The requests of the other calls hold at most two names.
 */
function inferenceDefinition(): ServiceDefinition {
  const service = { ...loadService() };
  for (const rpc of UNDECODED) {
    service[rpc] = { ...service[rpc]!, requestDeserialize: (message: Buffer) => message };
  }
  return service;
}
