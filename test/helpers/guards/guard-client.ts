import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
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

/** String inputs of one row. */
export function row(values: Readonly<Record<string, string>>): TestTensor[] {
  return Object.entries(values).map(([name, value]) => column(name, [value]));
}

/** MESSAGES of one conversation: [1, turns, 2]. */
export function messages(...turns: (readonly [role: string, content: string])[]): TestTensor {
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
  readonly #service;
  readonly #client;

  constructor(address: string, service = loadService()) {
    this.#service = service;
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
        { deadline: Date.now() + (options.deadlineMs ?? 240_000) },
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
    const { tensors = [], ...rest } = request;
    return this.call('ModelInfer', { ...inferMessage(tensors), ...rest }, options);
  }

  close(): void {
    this.#client.close();
  }
}

/** The message of a request with these tensors. */
export function inferMessage(tensors: readonly TestTensor[]) {
  return {
    model_name: 'guard',
    inputs: tensors.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    raw_input_contents: tensors.map(({ raw }) => raw),
  };
}

/** A tensor of a reply, decoded by its data type. */
export function output(response: InferResponse, name: string): readonly (number | boolean | string)[] {
  const index = response.outputs.findIndex((tensor) => tensor.name === name);
  const raw = response.raw_output_contents[index];
  if (raw === undefined) throw new Error(`no output ${name}`);
  return elementsOf(response.outputs[index]!.datatype, raw);
}

/** All tensors of a reply by name, decoded. */
export function outputs(response: InferResponse): Record<string, readonly unknown[]> {
  return Object.fromEntries(response.outputs.map(({ name }) => [name, output(response, name)]));
}

/** The elements of a tensor in raw form. */
export function elementsOf(datatype: string, raw: Buffer): readonly (number | boolean | string)[] {
  switch (datatype) {
    case 'FP32':
      return [...decodeFloats(raw)!];
    case 'INT32':
      return [...decodeInts(raw)!];
    case 'BOOL':
      return decodeBooleans(raw)!;
    default:
      return decodeBytes(raw)!.map(String);
  }
}
