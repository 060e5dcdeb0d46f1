import {
  Client,
  credentials,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { GuardAddress } from '../address.ts';
import { CallError } from '../call-error.ts';
import type { CallOptions } from '../connection.ts';
import type { InferRequest, InferResponse, WireModelConfig } from '../tensors/protocol.ts';
import { classify } from './grpc-fault.ts';

/** The calls we make, by request and reply. */
interface Calls {
  ServerReady: [request: object, reply: { readonly ready: boolean }];
  ModelReady: [request: { name: string }, reply: { readonly ready: boolean }];
  ModelConfig: [request: { name: string }, reply: { readonly config: WireModelConfig | null }];
  ModelInfer: [request: InferRequest, reply: InferResponse];
}

/** One connection to one guard. Calls fail with `CallError`, or with the signal's reason once it is aborted. */
export class GuardChannel {
  readonly #client: Client;
  readonly #service: ServiceDefinition;
  readonly #metadata = new Metadata();

  /** `token` goes along as `authorization: Bearer`. Nothing is connected until the first call. */
  constructor(address: GuardAddress, service: ServiceDefinition, token: string | null) {
    this.#service = service;
    if (token !== null) this.#metadata.set('authorization', `Bearer ${token}`);
    this.#client = new Client(
      address.target,
      address.secure ? credentials.createSsl() : credentials.createInsecure(),
      {
        'grpc.max_receive_message_length': -1,
        'grpc.max_send_message_length': -1,
        // Of its own, so that closing this channel closes its connection and a new one begins afresh. Keepalive
        // stays off: deadlines notice a dead connection as well, and a server that drains still finishes our
        // requests, while a keepalive that finds it draining would drop the connection with them.
        'grpc.use_local_subchannel_pool': 1,
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': 1000,
        // A proxy meant for the way out would also take calls to this machine.
        ...(address.loopback ? { 'grpc.enable_http_proxy': 0 } : {}),
        ...(address.authority === null
          ? {}
          : {
              'grpc.default_authority': address.authority,
              'grpc.ssl_target_name_override': address.serverName,
            }),
      },
    );
  }

  call<M extends keyof Calls>(method: M, request: Calls[M][0], options: CallOptions): Promise<Calls[M][1]> {
    const definition = this.#service[method] as MethodDefinition<Calls[M][0], Calls[M][1]>;
    const { signal, timeoutMs } = options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const abort = (): void => call.cancel();
      const call = this.#client.makeUnaryRequest(
        definition.path,
        definition.requestSerialize,
        definition.responseDeserialize,
        request,
        this.#metadata,
        { deadline: Date.now() + timeoutMs },
        (error: ServiceError | null, reply?: Calls[M][1]) => {
          signal.removeEventListener('abort', abort);
          if (signal.aborted) reject(signal.reason as Error);
          else if (error !== null) reject(failed(error));
          else resolve(reply!);
        },
      );
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Drops the connection. Calls still in flight must have been aborted by their callers. */
  close(): void {
    this.#client.close();
  }
}

function failed({ code, details }: ServiceError): CallError {
  return new CallError(`gRPC status ${status[code] ?? code}`, classify(code, details));
}
