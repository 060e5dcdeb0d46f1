import type { ServerUnaryCall } from '@grpc/grpc-js';
import { makeFingerprint } from '../../../src/domain/fingerprint.ts';
import type { InferRequest, InferResponse, WireModelConfig } from '../../../src/guard/tensors/protocol.ts';
import { decodeBooleans } from '../../../src/guard/tensors/raw.ts';
import { loadService } from '../../../src/guard/tensors/service.ts';
import type { ServerTls } from '../certificate.ts';
import { type CanaryAnswers, canaryScore } from './canary-answers.ts';
import {
  artifactsOf,
  configTensors,
  contentsOf,
  INPUTS,
  type Output,
  OUTPUTS,
  rawOutputs,
  scoreOf,
  stringsOf,
  verdictOutputs,
  versionOutput,
} from './fake-contract.ts';
import { type FakeGrpc, type RpcError, ScriptedError, serveGrpc, unary } from './fake-grpc.ts';
import { type ScriptedStream, type StreamScript, withStreams } from './scripted-streams.ts';

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
export type Scripted = void | RpcError | { readonly reply: (ordinary: InferResponse) => InferResponse };

export interface ScriptedGuardOptions {
  /** 0 for a free port. */
  readonly port?: number;
  readonly maxBatchSize?: number;
  readonly script?: (request: SeenRequest) => Scripted | Promise<Scripted>;
  /** Default: right. */
  readonly canaries?: () => CanaryAnswers;
  /** Serves moderation streams; without it the server has none. */
  readonly streams?: StreamScript;
  readonly onVersion?: () => Scripted | Promise<Scripted>;
  readonly config?: (config: WireModelConfig) => WireModelConfig;
  readonly ready?: () => boolean;
  readonly tls?: ServerTls;
}

export interface ScriptedGuard extends FakeGrpc {
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
}

/** Id of the fingerprint a guard reports after `deploy(model, …)`. */
export function fingerprintIdOf(model: string): string {
  return makeFingerprint(Object.entries(artifactsOf(model)))!.id;
}

/** A real gRPC server with the guard's contract whose answers a test decides. */
export async function startScriptedGuard(options: ScriptedGuardOptions = {}): Promise<ScriptedGuard> {
  const { maxBatchSize = 64 } = options;
  const isBatched = maxBatchSize > 0;
  const seen: SeenRequest[] = [];
  const judged = new Map<string, string[]>();
  let deployed = { model: 'model-a', version: '1' };
  let readings = 0;
  let canaries = 0;
  let inFlight = 0;

  const replyOf = (outputs: readonly Output[]): InferResponse => ({
    model_name: 'guard',
    model_version: deployed.version,
    id: '',
    ...rawOutputs(outputs),
  });
  const ordinary = (scores: readonly number[]) => replyOf(verdictOutputs(scores, isBatched));

  const infer = async (call: ServerUnaryCall<InferRequest, InferResponse>): Promise<InferResponse> => {
    const strings: Record<string, string[]> = {};
    const shapes: Record<string, readonly number[]> = {};
    let cacheWrite: boolean[] | null = null;
    for (const [index, input] of call.request.inputs.entries()) {
      const raw = call.request.raw_input_contents[index]!;
      shapes[input.name] = input.shape;
      if (input.datatype === 'BOOL') cacheWrite = decodeBooleans(raw);
      else strings[input.name] = stringsOf(raw);
    }
    const type = strings['REQUEST_TYPE']![0]!;
    if (type === 'version') {
      readings++;
      const scripted = await options.onVersion?.();
      if (scripted && 'code' in scripted) throw new ScriptedError(scripted);
      const reply = replyOf([versionOutput(deployed.model, isBatched)]);
      return scripted ? scripted.reply(reply) : reply;
    }
    const asCanary = { text: strings['TEXT']?.[0], image: strings['IMAGE']?.[0] };
    const known = type === 'prompt' ? canaryScore(asCanary, options.canaries?.() ?? 'right') : null;
    if (known !== null && strings['REQUEST_TYPE']!.length === 1) {
      canaries++;
      return ordinary([known]);
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
      const contents = contentsOf(strings);
      for (const content of contents) judged.set(content, [...(judged.get(content) ?? []), deployed.model]);
      const reply = ordinary(contents.map(scoreOf));
      return scripted ? scripted.reply(reply) : reply;
    } finally {
      inFlight--;
    }
  };

  const config = (): WireModelConfig => {
    const plain: WireModelConfig = {
      name: 'guard',
      backend: 'scripted',
      max_batch_size: maxBatchSize,
      input: configTensors(INPUTS),
      output: configTensors([...OUTPUTS, ['VERSION', 'BYTES', [1]]]),
      instance_group: [{ name: 'guard', count: 1 }],
    };
    return options.config?.(plain) ?? plain;
  };

  const streams: ScriptedStream[] = [];
  let streamScript = options.streams;
  const streaming = withStreams(
    loadService(),
    isBatched,
    (stream, message) => {
      if (stream.messages.length === 1) streams.push(stream);
      streamScript!(stream, message);
    },
    () => deployed.version,
  );
  const server = await serveGrpc(
    streaming.service,
    {
      ...(streamScript && { ModelStreamInfer: streaming.handler }),
      ServerLive: unary(() => ({ live: true })),
      ServerReady: unary(() => ({ ready: options.ready?.() ?? true })),
      ModelReady: unary(() => ({ ready: true })),
      ServerMetadata: unary(() => ({})),
      ModelMetadata: unary(() => ({})),
      ModelConfig: unary(() => ({ config: config() })),
      ModelInfer: unary(infer),
    },
    options,
  );
  return {
    ...server,
    seen,
    canaries: () => canaries,
    readings: () => readings,
    judged,
    streams,
    setStreams: (script) => void (streamScript = script),
    deploy: (model, version) => void (deployed = { model, version }),
  };
}
