import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { GuardService } from '../service/guard-service.ts';
import type { ModerationStreams } from '../../http/streams/moderation-streams.ts';
import { healthDefinition, healthService } from './health-service.ts';
import { inferenceDefinition } from './infer-definition.ts';
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
