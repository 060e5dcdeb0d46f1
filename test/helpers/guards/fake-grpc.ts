import {
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import type { ServerTls } from '../certificate.ts';
import { freePort } from '../free-port.ts';

export interface RpcError {
  readonly code: status;
  readonly details: string;
}

/** Makes a unary call fail with a status of the script's. */
export class ScriptedError extends Error {
  readonly status: RpcError;

  constructor(error: RpcError) {
    super(error.details);
    this.status = error;
  }
}

/** Answers unary calls; errors that no script made are INTERNAL. */
export function unary<Q, R>(handle: (call: ServerUnaryCall<Q, R>) => R | Promise<R>): UntypedHandleCall {
  const handler = (call: ServerUnaryCall<Q, R>, respond: sendUnaryData<R>): void => {
    Promise.resolve()
      .then(() => handle(call))
      .then(
        (reply) => respond(null, reply),
        (error: unknown) =>
          respond(
            error instanceof ScriptedError
              ? error.status
              : { code: status.INTERNAL, details: (error as Error).stack ?? '' },
          ),
      );
  };
  return handler;
}

/** Serves a gRPC service on loopback, on a port where it can be started again unless one is given. */
export async function serveGrpc(
  service: ServiceDefinition,
  handlers: Readonly<Record<string, UntypedHandleCall>>,
  {
    port,
    tls,
    maxMessageBytes = -1,
  }: {
    readonly port?: number | undefined;
    readonly tls?: ServerTls | undefined;
    readonly maxMessageBytes?: number | undefined;
  },
): Promise<{ readonly address: string; readonly port: number; kill(): void }> {
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': -1,
  });
  server.addService(service, handlers);
  const bound = port || (await freePort());
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${bound}`, credentialsOf(tls), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
  return {
    address: `${tls ? 'grpcs' : 'grpc'}://127.0.0.1:${bound}`,
    port: bound,
    kill: () => server.forceShutdown(),
  };
}

function credentialsOf(tls: ServerTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { key, certificate, clientAuthority = null } = tls;
  const pair = { private_key: key, cert_chain: certificate };
  return ServerCredentials.createSsl(clientAuthority, [pair], clientAuthority !== null);
}
