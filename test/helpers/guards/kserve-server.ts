import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  loadPackageDefinition,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  status,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

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
export interface KserveServer {
  readonly address: string;
  readonly port: number;
  /** Contents of the rows of each judged request, in order of arrival. */
  readonly seen: (readonly string[])[];
  /** Most judged requests under way at a time. */
  readonly mostInFlight: () => number;
  /** Ends at once: connections are cut. */
  kill(): void;
}

export interface RpcError {
  readonly code: status;
  readonly details: string;
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
  readonly modelReady?: () => boolean | RpcError;
  /** Error of ModelMetadata, when it is to fail. */
  readonly metadataError?: () => RpcError | null;
  readonly script?: (contents: readonly string[]) => Scripted | Promise<Scripted>;
}

const MIB = 1024 * 1024;
const CATEGORIES = 13;

/** Dimensions without that of a batch. */
export const INPUTS: readonly (readonly [name: string, datatype: string, dims: readonly number[]])[] = [
  ['REQUEST_TYPE', 'BYTES', [1]],
  ['MODALITY', 'BYTES', [1]],
  ['TEXT', 'BYTES', [1]],
  ['IMAGE', 'BYTES', [1]],
  ['AUDIO', 'BYTES', [1]],
  ['RESPONSE_TEXT', 'BYTES', [1]],
  ['SESSION_ID', 'BYTES', [1]],
  ['MESSAGES', 'BYTES', [-1, 2]],
  ['CACHE_WRITE', 'BOOL', [1]],
];
export const OUTPUTS: readonly (readonly [name: string, datatype: string, dims: readonly number[]])[] = [
  ['SCORE', 'FP32', [1]],
  ['FLAGGED', 'BOOL', [1]],
  ['SUBCATEGORY_SCORES', 'FP32', [CATEGORIES]],
  ['SUBCATEGORY_FLAGS', 'BOOL', [CATEGORIES]],
  ['CACHE_USAGE', 'INT32', [8]],
];

class ScriptedError extends Error {
  readonly status: RpcError;

  constructor(error: RpcError) {
    super(error.details);
    this.status = error;
  }
}

interface InferRequest {
  readonly inputs: readonly OutputTensor[];
  readonly raw_input_contents: readonly Buffer[];
}

export async function startKserveServer(options: KserveServerOptions = {}): Promise<KserveServer> {
  const { declared = 'batched', replies = 'typed', maxMessageBytes = 4 * MIB } = options;
  const batched = declared === 'batched';
  const seen: (readonly string[])[] = [];
  let inFlight = 0;
  let most = 0;

  const metadata = (): Metadata => {
    const error = options.metadataError?.() ?? null;
    if (error !== null) throw new ScriptedError(error);
    if (declared === 'nothing') return { inputs: [], outputs: [] };
    const tensors = (list: typeof INPUTS): Tensor[] =>
      list.map(([name, datatype, dims]) => ({ name, datatype, shape: batched ? [-1, ...dims] : dims }));
    const plain = { inputs: tensors(INPUTS), outputs: tensors(OUTPUTS) };
    return options.changeMetadata?.(plain) ?? plain;
  };

  const verdicts = (contents: readonly string[]): Reply => {
    const values = valuesOf(contents);
    const outputs = OUTPUTS.map(([name, datatype, dims]) => ({
      name,
      datatype,
      shape: batched ? [contents.length, ...dims] : dims,
    }));
    return replyOf(
      outputs,
      outputs.map(({ name }) => values[name]!),
    );
  };

  const replyOf = (outputs: readonly Tensor[], values: readonly (readonly Value[])[]): Reply => ({
    model_name: 'guard',
    model_version: '',
    outputs:
      replies === 'raw'
        ? outputs
        : outputs.map((output, index) => ({
            ...output,
            contents: { [FIELDS[output.datatype]!]: values[index]!.map(asField) },
          })),
    raw_output_contents:
      replies === 'raw' ? outputs.map(({ datatype }, index) => rawOf(datatype, values[index]!)) : [],
  });

  const infer = async ({ inputs, raw_input_contents: raw }: InferRequest): Promise<Reply> => {
    const strings: Record<string, string[]> = {};
    for (const [index, { name, datatype }] of inputs.entries()) {
      if (datatype === 'BYTES') strings[name] = stringsOf(raw[index]!);
    }
    if (strings['REQUEST_TYPE']?.[0] === 'version') {
      const shape = batched ? [1, 1] : [1];
      return replyOf([{ name: 'VERSION', datatype: 'BYTES', shape }], [[VERSION]]);
    }
    const contents = contentsOf(strings);
    seen.push(contents);
    most = Math.max(most, ++inFlight);
    try {
      const scripted = await options.script?.(contents);
      if (scripted && 'code' in scripted) throw new ScriptedError(scripted);
      const ordinary = verdicts(contents);
      return scripted ? scripted.reply(ordinary) : ordinary;
    } finally {
      inFlight--;
    }
  };

  const unary =
    <Q, R>(handle: (request: Q) => R | Promise<R>) =>
    (call: ServerUnaryCall<Q, R>, respond: sendUnaryData<R>): void => {
      Promise.resolve()
        .then(() => handle(call.request))
        .then(
          (reply) => respond(null, reply),
          (error: unknown) =>
            respond(
              error instanceof ScriptedError
                ? error.status
                : { code: status.UNKNOWN, details: `Unexpected ${String(error)}` },
            ),
        );
    };

  const server = new Server({ 'grpc.max_receive_message_length': maxMessageBytes });
  server.addService(service(), {
    ServerLive: unary(() => ({ live: true })),
    ServerReady: unary(() => ({ ready: true })),
    ModelReady: unary(() => {
      const ready = options.modelReady?.() ?? true;
      if (typeof ready !== 'boolean') throw new ScriptedError(ready);
      return { ready };
    }),
    ModelMetadata: unary(metadata),
    ModelInfer: unary(infer),
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${options.port ?? 0}`, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return {
    address: `grpc://127.0.0.1:${port}`,
    port,
    seen,
    mostInFlight: () => most,
    kill: () => server.forceShutdown(),
  };
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

/** An element of a tensor; null for a number that JSON does not have. */
type Value = number | boolean | string | null;

/** What the guard answers to `version`. */
export const VERSION = JSON.stringify({ 'model.pt': createHash('sha256').update('model').digest('hex') });

/** The contents of the rows of a request. */
export function contentsOf(strings: Readonly<Record<string, readonly string[]>>): readonly string[] {
  const { IMAGE, AUDIO, RESPONSE_TEXT, TEXT, MESSAGES } = strings;
  return IMAGE ?? AUDIO ?? RESPONSE_TEXT ?? TEXT ?? [MESSAGES!.at(-1)!];
}

/** The elements of each output of the ordinary verdicts. */
export function valuesOf(contents: readonly string[]): Readonly<Record<string, Value[]>> {
  const rows = contents.map((content) => {
    const score = createHash('sha256').update(content).digest().readUInt32BE() / 2 ** 32;
    return { score, flagged: score >= 0.5 };
  });
  return {
    SCORE: rows.map(({ score }) => score),
    FLAGGED: rows.map(({ flagged }) => flagged),
    SUBCATEGORY_SCORES: rows.flatMap(({ score, flagged }) =>
      new Array<number>(CATEGORIES).fill(flagged ? score : 0),
    ),
    SUBCATEGORY_FLAGS: rows.flatMap(({ flagged }) =>
      Array.from({ length: CATEGORIES }, (_, index) => flagged && index === 7),
    ),
    CACHE_USAGE: rows.flatMap(() => [1, 2, 3, 4, 5, 6, 7, -8]),
  };
}

/** Elements in the raw form of the protocol. */
export function rawOf(datatype: string, values: readonly Value[]): Buffer {
  return Buffer.concat(
    values.map((value) => {
      if (typeof value === 'boolean') return Buffer.from([value ? 1 : 0]);
      const word = Buffer.alloc(4);
      if (typeof value === 'string') {
        word.writeUInt32LE(Buffer.byteLength(value));
        return Buffer.concat([word, Buffer.from(value)]);
      }
      if (datatype === 'FP32') word.writeFloatLE(value ?? Number.NaN);
      else word.writeInt32LE(value!);
      return word;
    }),
  );
}

export function stringsOf(raw: Buffer): string[] {
  const strings: string[] = [];
  for (let at = 0; at < raw.length;) {
    const end = at + 4 + raw.readUInt32LE(at);
    strings.push(raw.toString('utf8', at + 4, end));
    at = end;
  }
  return strings;
}
