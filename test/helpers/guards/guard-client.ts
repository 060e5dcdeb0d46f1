import { Client, credentials, Metadata, type ServiceDefinition, type ServiceError } from '@grpc/grpc-js';
import type {
  InferResponse,
  WireModelConfig,
  WireOutput,
  WireTensor,
} from '../../../src/guard/tensors/protocol.ts';
import {
  decodeBooleans,
  decodeBytes,
  decodeFloats,
  decodeInts,
  encodeBooleans,
  encodeStrings,
} from '../../../src/guard/tensors/raw.ts';
import { loadService } from '../../../src/guard/tensors/service.ts';

/** A bare client of the inference protocol, for tests that look at the wire itself. */

export interface TestTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly raw: Buffer;
}

export interface TestRequest {
  readonly model_name?: string;
  readonly model_version?: string;
  readonly id?: string;
  readonly tensors?: readonly TestTensor[];
  readonly inputs?: readonly WireTensor[];
  readonly raw_input_contents?: readonly Buffer[];
  readonly outputs?: readonly WireOutput[];
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A string input of one column: [N, 1]. */
export function column(name: string, values: readonly string[]): TestTensor {
  return { name, datatype: 'BYTES', shape: [values.length, 1], raw: encodeStrings(values) };
}

/** A BOOL input of one column: [N, 1]. */
export function flags(name: string, values: readonly boolean[]): TestTensor {
  return { name, datatype: 'BOOL', shape: [values.length, 1], raw: encodeBooleans(values) };
}

/** MESSAGES of one conversation: [1, turns, 2]. */
export function messages(turns: readonly (readonly [string, string])[]): TestTensor {
  const shape = [1, turns.length, 2];
  return { name: 'MESSAGES', datatype: 'BYTES', shape, raw: encodeStrings(turns.flat()) };
}

/** Inputs of a `prompt` request for texts. */
export function promptInputs(texts: readonly string[]): TestTensor[] {
  const each = (value: string): string[] => texts.map(() => value);
  return [column('REQUEST_TYPE', each('prompt')), column('MODALITY', each('text')), column('TEXT', texts)];
}

export interface CallOptions {
  readonly deadlineMs?: number;
  readonly token?: string;
  readonly signal?: AbortSignal;
}

export class TestClient {
  readonly #service: ServiceDefinition = loadService();
  readonly #client: Client;

  constructor(address: string) {
    this.#client = new Client(address.replace(/^grpc:\/\//, ''), credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 100,
    });
  }

  call<T>(rpc: string, request: object, options: CallOptions = {}): Promise<T> {
    const { path, requestSerialize, responseDeserialize } = this.#service[rpc]!;
    const metadata = new Metadata();
    if (options.token !== undefined) metadata.set('authorization', `Bearer ${options.token}`);
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        { deadline: Date.now() + (options.deadlineMs ?? 10_000) },
        (error: ServiceError | null, response?: unknown) =>
          error === null ? resolve(response as T) : reject(error),
      );
      options.signal?.addEventListener('abort', () => call.cancel());
    });
  }

  async config(): Promise<WireModelConfig> {
    return (await this.call<{ config: WireModelConfig }>('ModelConfig', { name: 'guard' })).config;
  }

  infer(request: TestRequest, options: CallOptions = {}): Promise<InferResponse> {
    const { tensors, ...rest } = request;
    const given = tensors === undefined ? {} : wire(tensors);
    return this.call('ModelInfer', { model_name: 'guard', ...given, ...rest }, options);
  }

  close(): void {
    this.#client.close();
  }
}

function wire(tensors: readonly TestTensor[]): object {
  return {
    inputs: tensors.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    raw_input_contents: tensors.map(({ raw }) => raw),
  };
}

/** A tensor of a reply, decoded by its data type. */
export function output(response: InferResponse, name: string): readonly (number | boolean | string)[] {
  const index = response.outputs.findIndex((tensor) => tensor.name === name);
  const raw = response.raw_output_contents[index];
  if (raw === undefined) throw new Error(`no output ${name}`);
  switch (response.outputs[index]!.datatype) {
    case 'FP32':
      return [...decodeFloats(raw)!];
    case 'INT32':
      return [...decodeInts(raw)!];
    case 'BOOL':
      return decodeBooleans(raw)!;
    default:
      return decodeBytes(raw)!.map((bytes) => bytes.toString());
  }
}
