import {
  status,
  type ServerUnaryCall,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type { GuardService } from '../service/guard-service.ts';
import type { CallStatus } from './status.ts';

interface HealthCheckRequest {
  readonly service: string;
}

interface HealthCheckResponse {
  readonly status: 'SERVING' | 'NOT_SERVING';
}

/**
 * The handlers of `grpc.health.v1.Health`: the readiness of the server ('' or the name of its inference service) or of
 * the model. NOT_FOUND for other names. As in Triton, Watch is UNIMPLEMENTED.
 */
export function healthService(service: GuardService): UntypedServiceImplementation {
  return {
    Check: (
      call: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
      callback: sendUnaryData<HealthCheckResponse>,
    ) => {
      const ready = isReady(service, call.request.service);
      if (ready === null) callback(UNKNOWN_SERVICE);
      else callback(null, { status: ready ? 'SERVING' : 'NOT_SERVING' });
    },
  };
}

const UNKNOWN_SERVICE: CallStatus = { code: status.NOT_FOUND, details: 'this server has no such service' };

function isReady(service: GuardService, name: string): boolean | null {
  if (name === '' || name === 'inference.GRPCInferenceService') return service.isReady();
  return name === MODEL_NAME ? service.isModelReady(MODEL_NAME, '') : null;
}
