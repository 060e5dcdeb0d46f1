import { roundScore } from '../../protocol/answer.ts';
import type { TensorLayout } from '../encode-request.ts';
import type { InferResponse, WireTensor } from '../protocol.ts';
import { encodeBooleans, encodeFloats } from '../raw.ts';
import { encodeLong, oneBoolean, oneFloat, oneLong } from './one-element.ts';
import {
  checkSeq,
  InvalidStreamMessage,
  isLatency,
  isScore,
  NOTHING_JUDGED,
  type StreamVerdict,
} from './stream-messages.ts';

/**
 * A verdict as tensors of a ModelStreamInfer reply. Shapes, batched (not batched: [1]):
 *
 *   PROCESSED_UNTIL_SEQ  INT64  [1,1]
 *   FLAGGED              BOOL   [1,1]
 *   NEEDS_CAUTION        BOOL   [1,1]
 *   SCORE                FP32   [1,1]  null: left out
 *   LATENCY_MS           FP32   [1,1]
 *   IS_FINAL             BOOL   [1,1]
 */
export function encodeStreamVerdict(
  verdict: StreamVerdict,
  { batched }: TensorLayout,
): Pick<InferResponse, 'outputs' | 'raw_output_contents'> {
  const shape = batched ? [1, 1] : [1];
  const outputs: WireTensor[] = [];
  const raw: Buffer[] = [];
  const add = (name: string, datatype: string, content: Buffer): void => {
    outputs.push({ name, datatype, shape });
    raw.push(content);
  };
  add('PROCESSED_UNTIL_SEQ', 'INT64', encodeLong(verdict.processedUntilSeq));
  add('FLAGGED', 'BOOL', encodeBooleans([verdict.flagged]));
  add('NEEDS_CAUTION', 'BOOL', encodeBooleans([verdict.needsCaution]));
  if (verdict.score !== null) add('SCORE', 'FP32', encodeFloats([verdict.score]));
  add('LATENCY_MS', 'FP32', encodeFloats([verdict.latencyMs]));
  add('IS_FINAL', 'BOOL', encodeBooleans([verdict.isFinal]));
  return { outputs, raw_output_contents: raw };
}

/** Reads a verdict; only SCORE may be missing, and other outputs are ignored. Throws InvalidStreamMessage. */
export function decodeStreamVerdict(reply: InferResponse): StreamVerdict {
  const outputs = new Outputs(reply);
  const score = outputs.find('SCORE', 'FP32', oneFloat);
  if (score !== null && !isScore(score)) throw new InvalidStreamMessage('SCORE is not from 0 to 1');
  const latencyMs = outputs.read('LATENCY_MS', 'FP32', oneFloat);
  if (!isLatency(latencyMs)) throw new InvalidStreamMessage('LATENCY_MS is not from 0');
  const seq = outputs.read('PROCESSED_UNTIL_SEQ', 'INT64', oneLong);
  return {
    processedUntilSeq: checkSeq('PROCESSED_UNTIL_SEQ', seq, NOTHING_JUDGED),
    flagged: outputs.read('FLAGGED', 'BOOL', oneBoolean),
    needsCaution: outputs.read('NEEDS_CAUTION', 'BOOL', oneBoolean),
    score: score === null ? null : roundScore(score),
    latencyMs,
    isFinal: outputs.read('IS_FINAL', 'BOOL', oneBoolean),
  };
}

/** Finds outputs by name and reads their one element. */
class Outputs {
  readonly #reply: InferResponse;
  readonly #indices = new Map<string, number>();

  constructor(reply: InferResponse) {
    this.#reply = reply;
    if (reply.outputs.length !== reply.raw_output_contents.length) {
      throw new InvalidStreamMessage('outputs and their contents differ in number');
    }
    for (const [index, { name }] of reply.outputs.entries()) {
      if (this.#indices.has(name)) throw new InvalidStreamMessage('an output is given more than once');
      this.#indices.set(name, index);
    }
  }

  /** Null when the output is missing. */
  find<T>(name: string, datatype: string, decode: (raw: Buffer) => T | null): T | null {
    const index = this.#indices.get(name);
    if (index === undefined) return null;
    const output = this.#reply.outputs[index]!;
    const hasShape = [1, 2].includes(output.shape.length) && output.shape.every((size) => size === 1);
    const value = decode(this.#reply.raw_output_contents[index]!);
    if (output.datatype !== datatype || !hasShape || value === null) {
      throw new InvalidStreamMessage(`${name} is not one element of ${datatype}`);
    }
    return value;
  }

  read<T>(name: string, datatype: string, decode: (raw: Buffer) => T | null): T {
    const value = this.find(name, datatype, decode);
    if (value === null) throw new InvalidStreamMessage(`${name} is missing`);
    return value;
  }
}
