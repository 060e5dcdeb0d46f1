import { fileURLToPath } from 'node:url';
import { loadPackageDefinition, type ServerUnaryCall, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import {
  contentsOf,
  INPUTS,
  metadataTensors,
  type Output,
  OUTPUTS,
  rawOutputs,
  scoreOf,
  stringsOf,
  type Value,
  verdictOutputs,
  versionOutput,
} from './fake-contract.ts';
import { type FakeGrpc, type RpcError, ScriptedError, serveGrpc, unary } from './fake-grpc.ts';

/**
 * A KServe v2 server over gRPC that behaves like Seldon MLServer 1.3.5 and the KServe Python SDK 0.20, and shares no code
 * with the guard client or the embedded guard:
 * - it has no ModelConfig, which is Triton's extension (UNIMPLEMENTED);
 * - ModelMetadata declares what the author of the model declared, or nothing;
 * - replies are typed, as the SDK's always are. MLServer answers raw what was asked raw;
 * - MLServer's workers put the class of an error before its text;
 * - ModelReady of an unknown model is an error: NOT_FOUND (SDK), or UNKNOWN with the class of the exception (MLServer);
 * - a message over 4 MiB, MLServer's default, is RESOURCE_EXHAUSTED.
 */
export interface KserveServer extends FakeGrpc {
  /** Contents of the rows of each judged request, in order of arrival. */
  readonly seen: (readonly string[])[];
}

interface Tensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
}

export interface Metadata {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Tensor[];
}

export interface OutputTensor extends Tensor {
  readonly contents?: Readonly<Record<string, readonly (number | boolean | Buffer)[]>>;
}

export interface Reply {
  readonly model_name: string;
  readonly model_version: string;
  readonly outputs: readonly OutputTensor[];
  readonly raw_output_contents: readonly Buffer[];
}

/** What happens to a request with these contents: an ordinary verdict, an error, or a changed reply. */
export type Scripted = void | RpcError | { readonly reply: (ordinary: Reply) => Reply };

export interface KserveServerOptions {
  /** 0 for a free port. */
  readonly port?: number;
  /** How ModelMetadata declares the tensors. Default `batched`: [-1, 1]. */
  readonly declared?: 'batched' | 'singles' | 'nothing';
  readonly changeMetadata?: (metadata: Metadata) => Metadata;
  readonly replies?: 'typed' | 'raw';
  readonly maxMessageBytes?: number;
  /** Error of ModelReady and ModelMetadata, when they are to fail. */
  readonly noModel?: RpcError;
  readonly script?: (contents: readonly string[]) => Scripted | Promise<Scripted>;
}

const MIB = 1024 * 1024;

interface InferRequest {
  readonly inputs: readonly OutputTensor[];
  readonly raw_input_contents: readonly Buffer[];
}

export async function startKserveServer(options: KserveServerOptions = {}): Promise<KserveServer> {
  const { declared = 'batched', replies = 'typed', maxMessageBytes = 4 * MIB } = options;
  const batched = declared === 'batched';
  const seen: (readonly string[])[] = [];

  const found = <T>(answer: T): T => {
    if (options.noModel !== undefined) throw new ScriptedError(options.noModel);
    return answer;
  };
  const metadata = (): Metadata => {
    if (declared === 'nothing') return { inputs: [], outputs: [] };
    const plain = { inputs: metadataTensors(INPUTS, batched), outputs: metadataTensors(OUTPUTS, batched) };
    return options.changeMetadata?.(plain) ?? plain;
  };

  const replyOf = (outputs: readonly Output[]): Reply => {
    const typed = outputs.map(({ data, ...output }) => {
      return { ...output, contents: { [FIELDS[output.datatype]!]: data.map(asField) } };
    });
    return {
      model_name: 'guard',
      model_version: '',
      ...(replies === 'raw' ? rawOutputs(outputs) : { outputs: typed, raw_output_contents: [] }),
    };
  };

  const infer = async ({ request }: ServerUnaryCall<InferRequest, Reply>): Promise<Reply> => {
    const { inputs, raw_input_contents: raw } = request;
    const strings: Record<string, string[]> = {};
    for (const [index, { name, datatype }] of inputs.entries()) {
      if (datatype === 'BYTES') strings[name] = stringsOf(raw[index]!);
    }
    if (strings['REQUEST_TYPE']?.[0] === 'version') {
      return replyOf([versionOutput('model', batched)]);
    }
    const contents = contentsOf(strings);
    seen.push(contents);
    const scripted = await options.script?.(contents);
    if (scripted && 'code' in scripted) throw new ScriptedError(scripted);
    const ordinary = replyOf(verdictOutputs(contents.map(scoreOf), batched));
    return scripted ? scripted.reply(ordinary) : ordinary;
  };

  const server = await serveGrpc(
    service(),
    {
      ServerLive: unary(() => ({ live: true })),
      ServerReady: unary(() => ({ ready: true })),
      ModelReady: unary(() => found({ ready: true })),
      ModelMetadata: unary(() => found(metadata())),
      ModelInfer: unary(infer),
    },
    { port: options.port, maxMessageBytes },
  );
  return { ...server, seen };
}

/** The service as its protocol file defines it, coded by the library alone. */
function service(): ServiceDefinition {
  const path = fileURLToPath(new URL('../../../proto/grpc_service.proto', import.meta.url));
  const definition = loadSync(path, { keepCase: true, longs: Number, defaults: true });
  const loaded = loadPackageDefinition(definition) as unknown as {
    inference: { GRPCInferenceService: { service: ServiceDefinition } };
  };
  return loaded.inference.GRPCInferenceService.service;
}

const FIELDS: Readonly<Record<string, string>> = {
  FP32: 'fp32_contents',
  BOOL: 'bool_contents',
  INT32: 'int_contents',
  BYTES: 'bytes_contents',
};

const asField = (value: Value) => (typeof value === 'string' ? Buffer.from(value) : value!);
