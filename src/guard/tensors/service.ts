import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { loadPackageDefinition, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { decodeInferResponse } from './wire/infer-messages.ts';

/**
 * The service definition of `inference.GRPCInferenceService`, for a client or a server. Reads the proto files of
 * the package; the result is not cached, since each process needs it once. The reply of ModelInfer is read within bounds
 * (wire/infer-messages.ts): what it decodes to has no contents but raw ones, and no parameters.
 */
export function loadService(): ServiceDefinition {
  const path = createRequire(import.meta.url).resolve('#proto/grpc_service.proto');
  const definition = loadSync(path, {
    includeDirs: [dirname(path)],
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
    objects: true,
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    inference: { GRPCInferenceService: { service: ServiceDefinition } };
  };
  const { service } = loaded.inference.GRPCInferenceService;
  return { ...service, ModelInfer: { ...service['ModelInfer']!, responseDeserialize: decodeInferResponse } };
}
