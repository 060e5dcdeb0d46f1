import {
  type Client,
  type ClientUnaryCall,
  connectivityState,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { ClientTls } from '../../config/keys/guard-tls.ts';
import { abortable } from '../../flow/abortable.ts';
import { classifyGrpc, classifyGrpcProbe, unreadableReply } from '../faults/classify.ts';
import { CallError, UnimplementedCall } from '../protocol/call-error.ts';
import type { CallOptions, Credentials } from '../protocol/connection.ts';
import type { StreamEvents, StreamTransport } from '../streams/stream-transport.ts';
import type { TensorLayout } from '../tensors/encode-request.ts';
import type { InferRequest, InferResponse, WireModelConfig, WireModelMetadata } from '../tensors/protocol.ts';
import { loadService } from '../tensors/service.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { channelCredentials, clientAt } from './grpc-client.ts';
import { GrpcStream } from './grpc-stream.ts';
import { type GuardAddress, reach, type Reached } from './grpc-address.ts';

/** The calls in use, with the types of request and reply. */
interface Calls {
  ServerLive: [request: object, reply: object];
  ServerReady: [request: object, reply: { readonly ready: boolean }];
  ModelReady: [request: { name: string }, reply: { readonly ready: boolean }];
  ModelConfig: [request: { name: string }, reply: { readonly config: WireModelConfig | null }];
  ModelMetadata: [request: { name: string }, reply: WireModelMetadata];
  ModelInfer: [request: InferRequest, reply: InferResponse];
}

/** Timeout of a liveness call, in milliseconds. */
const ALIVE_TIMEOUT_MS = 5000;
/**
 * Asks Triton to end a stream at its first error with a gRPC status. Without it the error is a message without a status,
 * and the stream goes on.
 */
const STATUS_HEADER = 'triton_grpc_error';
/** Statuses that a call can end with although the server sent nothing. */
const UNANSWERED: ReadonlySet<number> = new Set([
  status.DEADLINE_EXCEEDED,
  status.UNAVAILABLE,
  status.CANCELLED,
]);

/** One connection to one guard. Calls reject with `CallError`, or with the signal's reason once it is aborted. */
export class GuardChannel {
  readonly #address: GuardAddress;
  /** Ends each call in flight. */
  readonly #cancels = new Set<() => void>();
  /** Null until the address was reached for the first time. */
  #client: Client | null = null;
  #reaching: Promise<Reached> | null = null;
  readonly #life = new AbortController();
  readonly #watch = new ConnectionWatch({
    isAlive: (on, signal) => this.#isAlive(on, signal),
    stuck: () => {
      this.#isStuck = true;
      // The connection closes with its client once it has no calls.
      for (const cancel of this.#cancels) cancel();
    },
  });
  readonly #service: ServiceDefinition;
  readonly #tls: ClientTls;
  readonly #metadata = new Metadata();
  #isStuck = false;

  /** `token` is sent as `authorization: Bearer`. Does not connect before the first call. */
  constructor(address: GuardAddress, { token, tls }: Credentials, service = loadService()) {
    this.#service = service;
    if (token !== null) this.#metadata.set('authorization', `Bearer ${token}`);
    this.#address = address;
    this.#tls = tls;
  }

  /** `maxReplyBytes`: max size of a valid reply. A larger one is invalid, and is not decoded. */
  async call<M extends keyof Calls>(
    method: M,
    request: Calls[M][0],
    maxReplyBytes: number,
    options: CallOptions,
  ): Promise<Calls[M][1]> {
    const { signal } = options;
    const client = this.#connected ?? (await this.#connect(options));
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const abort = (): void => call.cancel();
      this.#begin(abort);
      let hasStarted = false;
      const call = this.#unary(client, method, request, options.timeoutMs, (error, message) => {
        if (isAnswer(error)) this.#watch.answered();
        this.#end(abort);
        signal.removeEventListener('abort', abort);
        if (signal.aborted) reject(signal.reason as Error);
        else if (error !== null) reject(this.#isStuck ? stuck() : failed(method, error, hasStarted));
        else {
          const reply = message!.length > maxReplyBytes ? null : this.#decode(method, message!);
          if (reply === null) reject(unreadableReply());
          else resolve(reply);
        }
      });
      call.once('metadata', () => (hasStarted = true));
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Starts a moderation stream, which is one call of ModelStreamInfer. Not before the first call. */
  stream(layout: TensorLayout, events: StreamEvents): StreamTransport {
    const { path, requestSerialize } = this.#service['ModelStreamInfer'] as MethodDefinition<
      InferRequest,
      unknown
    >;
    const metadata = this.#metadata.clone();
    metadata.set(STATUS_HEADER, 'true');
    const call = this.#client!.makeBidiStreamRequest(path, requestSerialize, (message) => message, metadata);
    const cancel = (): void => call.cancel();
    this.#begin(cancel);
    return new GrpcStream(call, layout, events, {
      answered: () => this.#watch.answered(),
      ended: () => this.#end(cancel),
      failure: (error, hasStarted) => {
        if (isAnswer(error)) this.#watch.answered();
        return this.#isStuck ? stuck() : failed('ModelStreamInfer', error, hasStarted);
      },
    });
  }

  #begin(cancel: () => void): void {
    this.#cancels.add(cancel);
    this.#watch.sent();
  }

  #end(cancel: () => void): void {
    this.#cancels.delete(cancel);
    this.#watch.ended();
  }

  #unary<M extends keyof Calls>(
    client: Client,
    method: M,
    request: Calls[M][0],
    timeoutMs: number,
    done: (error: ServiceError | null, message?: Buffer) => void,
  ): ClientUnaryCall {
    const { path, requestSerialize } = this.#definition(method);
    return client.makeUnaryRequest(
      path,
      requestSerialize,
      (message) => message,
      request,
      this.#metadata,
      { deadline: Date.now() + timeoutMs },
      done,
    );
  }

  /** Null for a malformed reply. */
  #decode<M extends keyof Calls>(method: M, message: Buffer): Calls[M][1] | null {
    try {
      return this.#definition(method).responseDeserialize(message);
    } catch {
      // The error is dropped: its text could quote the message.
      return null;
    }
  }

  #definition<M extends keyof Calls>(method: M): MethodDefinition<Calls[M][0], Calls[M][1]> {
    return this.#service[method] as MethodDefinition<Calls[M][0], Calls[M][1]>;
  }

  /** Null while there is no connection. */
  get #connected(): Client | null {
    const isReady = this.#client?.getChannel().getConnectivityState(false) === connectivityState.READY;
    return isReady ? this.#client : null;
  }

  /** Also before gRPC connects again: the address may be gone. */
  async #connect({ timeoutMs, signal }: CallOptions): Promise<Client> {
    this.#reaching ??= reach(this.#address, { timeoutMs, signal: this.#life.signal }).finally(
      () => (this.#reaching = null),
    );
    const reached = await abortable(this.#reaching, signal);
    this.#client ??= clientAt(reached, channelCredentials(this.#address, this.#tls));
    return this.#client;
  }

  async #isAlive(on: 'this connection' | 'a new connection', signal: AbortSignal): Promise<boolean> {
    if (on === 'this connection') return this.#answers(this.#client!, signal);
    let client: Client | null = null;
    try {
      const reached = await reach(this.#address, { timeoutMs: ALIVE_TIMEOUT_MS, signal });
      client = clientAt(reached, channelCredentials(this.#address, this.#tls));
      return await this.#answers(client, signal);
    } catch {
      return false;
    } finally {
      client?.close();
    }
  }

  /** Any status sent by the server counts. */
  #answers(client: Client, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const abort = (): void => call.cancel();
      const call = this.#unary(client, 'ServerLive', {}, ALIVE_TIMEOUT_MS, (error) => {
        signal.removeEventListener('abort', abort);
        resolve(isAnswer(error));
      });
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
    });
  }

  /** Closes the connection. The callers must have aborted their calls in flight. */
  close(): void {
    this.#watch.stop();
    this.#life.abort();
    this.#client?.close();
  }
}

/** Whether the server sent the outcome of a call. */
function isAnswer(error: ServiceError | null): boolean {
  return error === null || !UNANSWERED.has(error.code);
}

function stuck(): CallError {
  return new CallError('connection stuck', { kind: 'endpoint', reason: 'connection stuck', reached: true });
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
