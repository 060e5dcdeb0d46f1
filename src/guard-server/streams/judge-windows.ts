import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type { TensorLayout } from '../../guard/tensors/encode-request.ts';
import { decodeBooleans, decodeFloats, encodeStrings } from '../../guard/tensors/raw.ts';
import type { ReceivedRequest } from '../../guard/tensors/wire/infer-messages.ts';
import type { ModelReply } from '../contract/model.ts';
import { RequestError } from '../contract/request-error.ts';
import type { GuardService } from '../service/guard-service.ts';

/** The prompt that the windows respond to. */
export interface Generation {
  /** Used in error texts. */
  readonly streamId: string;
  readonly prompt: string;
}

export interface WindowScore {
  readonly score: number;
  readonly flagged: boolean;
  readonly modelVersion: string;
}

/**
 * Judges windows of a generated text, each as a separate `response` request, which the model's queue batches with the
 * requests of other callers. `settle` is called once, with a score or an error for each window, in order. The returned
 * function withdraws the requests that no execution has taken yet.
 */
export function judgeWindows(
  service: GuardService,
  generation: Generation,
  windows: readonly string[],
  settle: (results: readonly (WindowScore | RequestError)[]) => void,
): () => void {
  const results = new Array<WindowScore | RequestError>(windows.length);
  let left = windows.length;
  const withdrawals = windows.map((window, index) =>
    service.infer(requestOf(generation, window, service.layout), (reply) => {
      results[index] = scoreOf(reply);
      left--;
      if (left === 0) settle(results);
    }),
  );
  return () => {
    for (const withdraw of withdrawals) withdraw();
  };
}

function requestOf(
  { streamId, prompt }: Generation,
  window: string,
  { batched }: TensorLayout,
): ReceivedRequest {
  const contents = [
    ['REQUEST_TYPE', 'response'],
    ['MODALITY', 'text'],
    ['TEXT', prompt],
    ['RESPONSE_TEXT', window],
  ] as const;
  const shape = batched ? [1, 1] : [1];
  return {
    model_name: MODEL_NAME,
    model_version: '',
    id: streamId,
    parameters: new Map(),
    inputs: contents.map(([name]) => ({
      ...{ name, datatype: 'BYTES', shape, parameters: [] },
      contents: { booleans: [], bytes: [], longs: [], hasOthers: false },
    })),
    outputs: ['SCORE', 'FLAGGED'].map((name) => ({ name, parameters: [] })),
    raw_input_contents: contents.map(([, text]) => encodeStrings([text])),
  };
}

function scoreOf(reply: ModelReply): WindowScore | RequestError {
  if (reply.error !== null) return reply.error;
  const raw = (name: string): Buffer =>
    reply.outputs.find((output) => output.name === name)?.raw ?? Buffer.alloc(0);
  const score = decodeFloats(raw('SCORE'))?.[0];
  const flagged = decodeBooleans(raw('FLAGGED'))?.[0];
  if (score === undefined || flagged === undefined || !(score >= 0 && score <= 1)) {
    return new RequestError('EXECUTION_FAILED', 'the reply of the model is not a verdict');
  }
  return { score, flagged, modelVersion: reply.modelVersion };
}
