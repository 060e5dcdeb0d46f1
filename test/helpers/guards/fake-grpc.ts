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

/** A gRPC server of a fake guard. */
export interface FakeGrpc {
  readonly address: string;
  readonly port: number;
  /** Ends at once, as a killed server does: connections are cut. */
  kill(): void;
}

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
  return (call: ServerUnaryCall<Q, R>, respond: sendUnaryData<R>): void => {
    const fail = (error: unknown): void => {
      const unforeseen = { code: status.INTERNAL, details: (error as Error).stack ?? '' };
      respond(error instanceof ScriptedError ? error.status : unforeseen);
    };
    void Promise.resolve(call)
      .then(handle)
      .then((reply) => respond(null, reply), fail);
  };
}

/** Serves a gRPC service on loopback, on a port where it can be started again unless one is given. */
export async function serveGrpc(
  service: ServiceDefinition,
  handlers: Readonly<Record<string, UntypedHandleCall>>,
  options: {
    readonly port?: number | undefined;
    readonly tls?: ServerTls;
    readonly maxMessageBytes?: number;
  },
): Promise<FakeGrpc> {
  const { port, tls, maxMessageBytes = -1 } = options;
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
