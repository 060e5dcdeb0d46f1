import { createRequire } from 'node:module';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import protobuf, { type IConversionOptions, type Type } from 'protobufjs';

/** Missing fields are set to their defaults, enumerations are names. */
const CONVERSION: IConversionOptions = {
  longs: Number,
  enums: String,
  defaults: true,
  arrays: true,
  objects: true,
};

/** Loads the definition of a service, for a client or a server, from one of the proto files of this package. */
export function loadProtoService(file: string, service: string): ServiceDefinition {
  const path = createRequire(import.meta.url).resolve(`#proto/${file}`);
  const root = new protobuf.Root().loadSync(path, { keepCase: true }).resolveAll();
  const methods = root.lookupService(service).methodsArray;
  return Object.fromEntries(methods.map((method) => [method.name, methodDefinition(service, method)]));
}

function methodDefinition(service: string, method: protobuf.Method): MethodDefinition<object, object> {
  const [request, response] = [method.resolvedRequestType!, method.resolvedResponseType!];
  return {
    path: `/${service}/${method.name}`,
    requestStream: method.requestStream ?? false,
    responseStream: method.responseStream ?? false,
    requestSerialize: serializer(request),
    requestDeserialize: deserializer(request),
    responseSerialize: serializer(response),
    responseDeserialize: deserializer(response),
  };
}

const serializer = (type: Type) => (message: object) =>
  type.encode(type.fromObject(message)).finish() as Buffer;

const deserializer = (type: Type) => (message: Buffer) =>
  type.toObject(type.decode(message), CONVERSION) as object;
