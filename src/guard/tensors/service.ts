import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { loadPackageDefinition, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { decodeInferResponse } from './wire/infer-messages.ts';

/**
 * The definition of the service `inference.GRPCInferenceService` of KServe v2, for a client or a server. Reads the proto
 * files of this package. Not cached, since each process needs it once. A ModelInfer reply is decoded within bounds
 * (wire/infer-messages.ts): its contents in raw form, and no parameters.
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
