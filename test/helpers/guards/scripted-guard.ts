import { createHash } from 'node:crypto';
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { makeFingerprint } from '../../../src/domain/fingerprint.ts';
import type { InferRequest, InferResponse, WireModelConfig } from '../../../src/guard/tensors/protocol.ts';
import {
  decodeBooleans,
  decodeBytes,
  encodeBooleans,
  encodeFloats,
  encodeInts,
  encodeStrings,
} from '../../../src/guard/tensors/raw.ts';
import { loadService } from '../../../src/guard/tensors/service.ts';
import { type CanaryAnswers, canaryScore } from './canary-answers.ts';
import { type ScriptedStream, type StreamScript, withStreams } from './scripted-streams.ts';
import type { ServerTls } from '../certificate.ts';

/** One ModelInfer request as the scripted guard sees it. */
export interface SeenRequest {
  readonly type: string;
  readonly rows: number;
  /** First tensor shape, such as [64, 1]. */
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** Elements of each STRING input, row-major. */
  readonly inputs: Readonly<Record<string, readonly string[]>>;
  readonly cacheWrite: readonly boolean[] | null;
  readonly authorization: string | null;
  /** Counted from 0 over all judged requests. */
  readonly number: number;
  /** Judged requests under way, this one included. */
  readonly inFlight: number;
  /** Resolves when the client gives the call up. */
  readonly cancelled: Promise<void>;
}

/** What a script says of a request: nothing (an ordinary verdict), an error, or a reply of its own. */
export type Scripted =
  | void
  | { readonly code: status; readonly details: string }
  | { readonly reply: (ordinary: InferResponse) => InferResponse };

export interface ScriptedGuardOptions {
  /** 0 for a free port. */
  readonly port?: number;
  readonly maxBatchSize?: number;
  readonly instances?: number;
  readonly script?: (request: SeenRequest) => Scripted | Promise<Scripted>;
  /** Default: right. */
  readonly canaries?: () => CanaryAnswers;
  /** Serves moderation streams; without it the server has none. */
  readonly streams?: StreamScript;
  readonly onVersion?: () => Scripted | Promise<Scripted>;
  readonly config?: (config: WireModelConfig) => WireModelConfig;
  readonly ready?: () => boolean;
  readonly tls?: ServerTls;
  /** Error of ModelConfig, when it is to fail. */
  readonly configError?: () => { readonly code: status; readonly details: string } | null;
}

export interface ScriptedGuard {
  readonly address: string;
  readonly port: number;
  /** Judged requests in order of arrival. */
  readonly seen: SeenRequest[];
  /** Built-in canaries that arrived; they are not among `seen`. */
  readonly canaries: () => number;
  /** Version requests answered. */
  readonly readings: () => number;
  /** Content of row (base64 of an image or clip, text, response, or last message) to the fingerprint in force when it was judged. */
  readonly judged: Map<string, string[]>;
  deploy(model: string, version: string): void;
  /** Moderation streams in order of arrival. */
  readonly streams: ScriptedStream[];
  setStreams(script: StreamScript): void;
  /** Ends at once, as a killed server does: connections are cut. */
  kill(): void;
}

const HASH = (text: string): string => createHash('sha256').update(text).digest('hex');

class ScriptedError extends Error {
  readonly status: { readonly code: status; readonly details: string };

  constructor(scripted: { readonly code: status; readonly details: string }) {
    super(scripted.details);
    this.status = scripted;
  }
}

/** Id of the fingerprint a guard reports after `deploy(model, …)`. */
export function fingerprintIdOf(model: string): string {
  return makeFingerprint(Object.entries(artifactsOf(model)))!.id;
}

function artifactsOf(model: string): Record<string, string> {
  return { 'model.bin': HASH(model), 'model.py': HASH('code') };
}

/** A score that depends on the content alone. */
export function scoreOf(content: string): number {
  return Number((parseInt(HASH(content).slice(0, 6), 16) / 0xffffff).toPrecision(6));
}

const INPUTS: readonly [string, string, number[]][] = [
  ['REQUEST_TYPE', 'TYPE_STRING', [1]],
  ['MODALITY', 'TYPE_STRING', [1]],
  ['TEXT', 'TYPE_STRING', [1]],
  ['IMAGE', 'TYPE_STRING', [1]],
  ['AUDIO', 'TYPE_STRING', [1]],
  ['RESPONSE_TEXT', 'TYPE_STRING', [1]],
  ['SESSION_ID', 'TYPE_STRING', [1]],
  ['MESSAGES', 'TYPE_STRING', [-1, 2]],
  ['CACHE_WRITE', 'TYPE_BOOL', [1]],
];
const OUTPUTS: readonly [string, string, number[]][] = [
  ['SCORE', 'TYPE_FP32', [1]],
  ['FLAGGED', 'TYPE_BOOL', [1]],
  ['SUBCATEGORY_SCORES', 'TYPE_FP32', [13]],
  ['SUBCATEGORY_FLAGS', 'TYPE_BOOL', [13]],
  ['CACHE_USAGE', 'TYPE_INT32', [8]],
  ['VERSION', 'TYPE_STRING', [1]],
];

/** A real gRPC server with the guard's contract whose answers a test decides. */
export async function startScriptedGuard(options: ScriptedGuardOptions = {}): Promise<ScriptedGuard> {
  const maxBatchSize = options.maxBatchSize ?? 64;
  const seen: SeenRequest[] = [];
  const judged = new Map<string, string[]>();
  let deployed = { model: 'model-a', version: '1' };
  let readings = 0;
  let canaries = 0;
  let inFlight = 0;

  const ordinary = (rows: number, scores: readonly number[]): InferResponse => {
    const batched = maxBatchSize > 0 ? [rows] : [];
    const outputs = [
      ['SCORE', 'FP32', 1, encodeFloats(scores)],
      ['FLAGGED', 'BOOL', 1, encodeBooleans(scores.map((score) => score >= 0.5))],
      [
        'SUBCATEGORY_SCORES',
        'FP32',
        13,
        encodeFloats(scores.flatMap((s) => (s >= 0.5 ? thirteen(s) : thirteen(0)))),
      ],
      [
        'SUBCATEGORY_FLAGS',
        'BOOL',
        13,
        encodeBooleans(scores.flatMap((s) => thirteen(0).map((_, i) => s >= 0.5 && i === 7))),
      ],
      ['CACHE_USAGE', 'INT32', 8, encodeInts(scores.flatMap(() => [1, 2, 3, 4, 5, 6, 7, 8]))],
    ] as const;
    return {
      model_name: 'guard',
      model_version: deployed.version,
      id: '',
      outputs: outputs.map(([name, datatype, width]) => ({ name, datatype, shape: [...batched, width] })),
      raw_output_contents: outputs.map(([, , , raw]) => raw),
    };
  };

  const infer = async (call: ServerUnaryCall<InferRequest, InferResponse>): Promise<InferResponse> => {
    const strings: Record<string, string[]> = {};
    const shapes: Record<string, readonly number[]> = {};
    let cacheWrite: boolean[] | null = null;
    for (const [index, input] of call.request.inputs.entries()) {
      const raw = call.request.raw_input_contents[index]!;
      shapes[input.name] = input.shape;
      if (input.datatype === 'BOOL') cacheWrite = decodeBooleans(raw);
      else strings[input.name] = decodeBytes(raw)!.map((element) => element.toString());
    }
    const type = strings['REQUEST_TYPE']![0]!;
    if (type === 'version') {
      readings++;
      const scripted = await options.onVersion?.();
      if (scripted && 'code' in scripted) throw new ScriptedError(scripted);
      const json = JSON.stringify(artifactsOf(deployed.model));
      const reply: InferResponse = {
        model_name: 'guard',
        model_version: deployed.version,
        id: '',
        outputs: [{ name: 'VERSION', datatype: 'BYTES', shape: maxBatchSize > 0 ? [1, 1] : [1] }],
        raw_output_contents: [encodeStrings([json])],
      };
      return scripted ? scripted.reply(reply) : reply;
    }
    const asCanary = { text: strings['TEXT']?.[0], image: strings['IMAGE']?.[0] };
    const known = type === 'prompt' ? canaryScore(asCanary, options.canaries?.() ?? 'right') : null;
    if (known !== null && strings['REQUEST_TYPE']!.length === 1) {
      canaries++;
      return ordinary(1, [known]);
    }
    const rows = type === 'multiturn' ? 1 : strings['REQUEST_TYPE']!.length;
    inFlight++;
    const request: SeenRequest = {
      type,
      rows,
      shapes,
      inputs: strings,
      cacheWrite,
      authorization: (call.metadata.get('authorization')[0] as string | undefined) ?? null,
      number: seen.length,
      inFlight,
      cancelled: new Promise((resolve) => call.once('cancelled', () => resolve())),
    };
    seen.push(request);
    try {
      const scripted = await options.script?.(request);
      if (scripted && 'code' in scripted) throw new ScriptedError(scripted);
      const contents = strings['IMAGE'] ??
        strings['AUDIO'] ??
        strings['RESPONSE_TEXT'] ??
        strings['TEXT'] ?? [strings['MESSAGES']!.at(-1)!];
      for (const content of contents) {
        judged.set(content, [...(judged.get(content) ?? []), deployed.model]);
      }
      const reply = ordinary(request.rows, contents.map(scoreOf));
      return scripted ? scripted.reply(reply) : reply;
    } finally {
      inFlight--;
    }
  };

  const config = (): WireModelConfig => {
    const tensors = (list: typeof INPUTS) =>
      list.map(([name, data_type, dims]) => ({
        name,
        data_type,
        dims,
        optional: true,
        allow_ragged_batch: false,
      }));
    const plain: WireModelConfig = {
      name: 'guard',
      backend: 'scripted',
      max_batch_size: maxBatchSize,
      input: tensors(INPUTS),
      output: OUTPUTS.map(([name, data_type, dims]) => ({ name, data_type, dims })),
      instance_group: [{ name: 'guard', count: options.instances ?? 1 }],
    };
    return options.config?.(plain) ?? plain;
  };

  const unary =
    <Q, R>(handle: (call: ServerUnaryCall<Q, R>) => R | Promise<R>) =>
    (call: ServerUnaryCall<Q, R>, respond: sendUnaryData<R>): void => {
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

  const server = new Server({
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  const ready = { ready: true };
  const streams: ScriptedStream[] = [];
  let streamScript = options.streams;
  const streaming = withStreams(
    loadService(),
    maxBatchSize > 0,
    (stream, message) => {
      if (stream.messages.length === 1) streams.push(stream);
      streamScript!(stream, message);
    },
    () => deployed.version,
  );
  server.addService(streaming.service, {
    ...(streamScript === undefined ? {} : { ModelStreamInfer: streaming.handler }),
    ServerLive: unary(() => ({ live: true })),
    ServerReady: unary(() => ({ ready: options.ready?.() ?? true })),
    ModelReady: unary(() => ready),
    ServerMetadata: unary(() => ({})),
    ModelMetadata: unary(() => ({})),
    ModelConfig: unary(() => {
      const error = options.configError?.() ?? null;
      if (error !== null) throw new ScriptedError(error);
      return { config: config() };
    }),
    ModelInfer: unary(infer),
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${options.port ?? 0}`, credentialsOf(options), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return {
    address: `${options.tls ? 'grpcs' : 'grpc'}://127.0.0.1:${port}`,
    port,
    seen,
    canaries: () => canaries,
    readings: () => readings,
    judged,
    streams,
    setStreams: (script) => {
      streamScript = script;
    },
    deploy: (model, version) => {
      deployed = { model, version };
    },
    kill: () => server.forceShutdown(),
  };
}

function credentialsOf({ tls }: ScriptedGuardOptions): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { key, certificate, clientAuthority = null } = tls;
  const pair = { private_key: key, cert_chain: certificate };
  return ServerCredentials.createSsl(clientAuthority, [pair], clientAuthority !== null);
}

function thirteen(score: number): number[] {
  return new Array<number>(13).fill(score);
}
