import {
  Client,
  connectivityState,
  credentials as grpcCredentials,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { abortable } from '../../flow/abortable.ts';
import { classifyGrpc, classifyGrpcProbe, unreadableReply } from '../faults/classify.ts';
import { MAX_REPLY_BYTES } from '../kserve/kserve-calls.ts';
import { CallError, UnimplementedCall } from '../protocol/call-error.ts';
import type { CallOptions, Credentials } from '../protocol/connection.ts';
import type { StreamEvents, StreamTransport } from '../streams/stream-transport.ts';
import type { TensorLayout } from '../tensors/encode-request.ts';
import type { InferRequest, InferResponse, WireModelConfig, WireModelMetadata } from '../tensors/protocol.ts';
import { loadService } from '../tensors/service.ts';
import { GrpcStream } from './grpc-stream.ts';
import { type GuardAddress, reach, type Reached } from './grpc-address.ts';

/** The calls in use, with their request and reply types. */
interface Calls {
  ServerReady: [request: object, reply: { readonly ready: boolean }];
  ModelReady: [request: { name: string }, reply: { readonly ready: boolean }];
  ModelConfig: [request: { name: string }, reply: { readonly config: WireModelConfig | null }];
  ModelMetadata: [request: { name: string }, reply: WireModelMetadata];
  ModelInfer: [request: InferRequest, reply: InferResponse];
}

/**
 * Asks Triton to end a stream at its first error with a gRPC status. Otherwise the error is a message without a status,
 * and the stream goes on.
 */
const STATUS_HEADER = 'triton_grpc_error';

/** One connection to one guard. Calls reject with `CallError`, or with the signal's reason once it is aborted. */
export class GuardChannel {
  readonly #address: GuardAddress;
  /** Null until the address was reached for the first time. */
  #client: Client | null = null;
  #reaching: Promise<Reached> | null = null;
  readonly #life = new AbortController();
  readonly #service: ServiceDefinition;
  readonly #tls: ClientTls;
  readonly #metadata = new Metadata();

  /** `token` is sent as `authorization: Bearer`. Does not connect before the first call. */
  constructor(address: GuardAddress, { token, tls }: Credentials, service = loadService()) {
    this.#service = service;
    if (token !== null) this.#metadata.set('authorization', `Bearer ${token}`);
    this.#address = address;
    this.#tls = tls;
  }

  /** `maxReplyBytes` is the max size of a valid reply. A larger one is invalid, and is not decoded. */
  async call<M extends keyof Calls>(
    method: M,
    request: Calls[M][0],
    maxReplyBytes: number,
    options: CallOptions,
  ): Promise<Calls[M][1]> {
    const { signal, timeoutMs } = options;
    const client = this.#connected ?? (await this.#connect(options));
    const { path, requestSerialize, responseDeserialize } = this.#service[method] as MethodDefinition<
      Calls[M][0],
      Calls[M][1]
    >;
    const decode = (message: Buffer): Calls[M][1] | null => {
      if (message.length > maxReplyBytes) return null;
      try {
        return responseDeserialize(message);
      } catch {
        // The error is dropped: its text could quote the message.
        return null;
      }
    };
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const abort = (): void => call.cancel();
      let hasStarted = false;
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        (message) => message,
        request,
        this.#metadata,
        { deadline: Date.now() + timeoutMs },
        (error, message) => {
          signal.removeEventListener('abort', abort);
          if (signal.aborted) reject(signal.reason as Error);
          else if (error !== null) reject(failed(method, error, hasStarted));
          else {
            const reply = decode(message!);
            if (reply === null) reject(unreadableReply());
            else resolve(reply);
          }
        },
      );
      call.once('metadata', () => (hasStarted = true));
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Starts a moderation stream, which is one call of ModelStreamInfer. Must follow a first call. */
  stream(layout: TensorLayout, events: StreamEvents): StreamTransport {
    const { path, requestSerialize } = this.#service['ModelStreamInfer'] as MethodDefinition<
      InferRequest,
      unknown
    >;
    const metadata = this.#metadata.clone();
    metadata.set(STATUS_HEADER, 'true');
    const call = this.#client!.makeBidiStreamRequest(path, requestSerialize, (message) => message, metadata);
    return new GrpcStream(call, layout, events, (error, hasStarted) =>
      failed('ModelStreamInfer', error, hasStarted),
    );
  }

  /** The client; null while there is no connection. */
  get #connected(): Client | null {
    const isReady = this.#client?.getChannel().getConnectivityState(false) === connectivityState.READY;
    return isReady ? this.#client : null;
  }

  /** Connects. Also runs before gRPC reconnects: the address may be gone. */
  async #connect({ timeoutMs, signal }: CallOptions): Promise<Client> {
    this.#reaching ??= reach(this.#address, { timeoutMs, signal: this.#life.signal }).finally(
      () => (this.#reaching = null),
    );
    const reached = await abortable(this.#reaching, signal);
    this.#client ??= this.#clientAt(reached);
    return this.#client;
  }

  /** Creates a client with its own connection. Does not connect before the first call. */
  #clientAt({ target, channelOptions }: Reached): Client {
    const { ca, key, cert } = this.#tls;
    const channelCredentials = this.#address.secure
      ? grpcCredentials.createSsl(pem(ca), pem(key), pem(cert))
      : grpcCredentials.createInsecure();
    return new Client(target, channelCredentials, {
      'grpc.max_receive_message_length': MAX_REPLY_BYTES,
      'grpc.max_send_message_length': -1,
      // Not shared, so closing this channel closes its connection, and the next channel opens a new one.
      'grpc.use_local_subchannel_pool': 1,
      // TRAP: no keepalive. Triton closes connections that ping more often than every 5 minutes, and a draining server
      // does not answer pings, which would drop the requests that it still finishes. Deadlines detect a dead connection
      // too.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1000,
      // As over REST: a proxy named in the environment for other purposes gets neither content nor tokens.
      'grpc.enable_http_proxy': 0,
      ...channelOptions,
    });
  }

  /** Closes the connection. The callers must have aborted their calls in flight. */
  close(): void {
    this.#life.abort();
    this.#client?.close();
  }
}

function pem(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text);
}

function failed(
  method: keyof Calls | 'ModelStreamInfer',
  { code, details }: ServiceError,
  hasStarted: boolean,
): CallError {
  const judges = method === 'ModelInfer' || method === 'ModelStreamInfer';
  const fault = judges ? classifyGrpc(code, details, hasStarted) : classifyGrpcProbe(code, details);
  const kind = code === status.UNIMPLEMENTED ? UnimplementedCall : CallError;
  return new kind(`gRPC status ${status[code] ?? code}`, fault);
}
