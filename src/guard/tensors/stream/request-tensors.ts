import { isUtf8 } from 'node:buffer';
import { MODEL_NAME, type InferRequest, type WireTensor } from '../protocol.ts';
import { encodeBooleans, encodeStrings } from '../raw.ts';
import type { TensorLayout } from '../encode-request.ts';
import type { ReceivedRequest, ReceivedTensor } from '../wire/infer-messages.ts';
import { encodeLong, oneBoolean, oneBytes, oneLong } from './one-element.ts';
import {
  CADENCE_NAMES,
  cadenceOf,
  checkSeq,
  checkStreamId,
  checkText,
  InvalidStreamMessage,
  refuseMisspelt,
  type StreamRequest,
} from './stream-messages.ts';

/** Inputs that only a message of a moderation stream has. */
const STREAM_ONLY: ReadonlySet<string> = new Set(['STREAM_ID', 'SEQ', 'TEXT_CHUNK', 'END_OF_STREAM']);

/** Data types of the inputs. Only SEQ is required. */
const DATATYPES: ReadonlyMap<string, string> = new Map([
  ['STREAM_ID', 'BYTES'],
  ['SEQ', 'INT64'],
  ['TEXT', 'BYTES'],
  ['TEXT_CHUNK', 'BYTES'],
  ['END_OF_STREAM', 'BOOL'],
]);

/** Whether a message of ModelStreamInfer belongs to a moderation stream, and not to ordinary streamed inference. */
export function isStreamRequest({ inputs }: ReceivedRequest): boolean {
  return inputs.some(({ name }) => STREAM_ONLY.has(name));
}

/**
 * One message of ModelStreamInfer. Shapes, batched (not batched: [1]):
 *
 *   STREAM_ID      BYTES  [1,1]  without an id left out
 *   SEQ            INT64  [1,1]
 *   TEXT           BYTES  [1,1]  the prompt; null: left out
 *   TEXT_CHUNK     BYTES  [1,1]  null: left out
 *   END_OF_STREAM  BOOL   [1,1]
 *
 * The cadence is the request parameter `cadence_chunks` or `cadence_ms`, an int64.
 */
export function encodeStreamRequest(request: StreamRequest, { batched }: TensorLayout): InferRequest {
  const { streamId, seq, prompt, chunk, endOfStream, cadence } = request;
  const contents: [name: string, raw: Buffer][] = [];
  if (streamId !== '') contents.push(['STREAM_ID', encodeStrings([streamId])]);
  contents.push(['SEQ', encodeLong(seq)]);
  if (prompt !== null) contents.push(['TEXT', encodeStrings([prompt])]);
  if (chunk !== null) contents.push(['TEXT_CHUNK', encodeStrings([chunk])]);
  contents.push(['END_OF_STREAM', encodeBooleans([endOfStream])]);
  const shape = batched ? [1, 1] : [1];
  return {
    model_name: MODEL_NAME,
    model_version: '',
    id: '',
    parameters: cadence === null ? {} : { [CADENCE_NAMES[cadence.unit]]: { int64_param: cadence.every } },
    inputs: contents.map(([name]): WireTensor => ({ name, datatype: DATATYPES.get(name)!, shape })),
    raw_input_contents: contents.map(([, raw]) => raw),
  };
}

/**
 * Reads a message of a moderation stream, with raw or typed contents of shape [1] or [1,1]. An input that is not listed
 * above is refused. Throws InvalidStreamMessage.
 */
export function decodeStreamRequest(received: ReceivedRequest): StreamRequest {
  refuseMisspelt(received.parameters.keys(), []);
  const inputs = new Inputs(received);
  const prompt = inputs.text('TEXT');
  const chunk = inputs.text('TEXT_CHUNK');
  return {
    streamId: checkStreamId('STREAM_ID', inputs.text('STREAM_ID') ?? ''),
    seq: checkSeq('SEQ', inputs.integer('SEQ'), 0),
    prompt: prompt === null ? null : checkText('TEXT', prompt),
    chunk: chunk === null ? null : checkText('TEXT_CHUNK', chunk),
    endOfStream: inputs.boolean('END_OF_STREAM') ?? false,
    cadence: cadenceOf(
      received.parameters.get(CADENCE_NAMES.chunks),
      received.parameters.get(CADENCE_NAMES.ms),
    ),
  };
}

/** Finds inputs by name and reads their one element; null: the input is missing. */
class Inputs {
  readonly #request: ReceivedRequest;
  readonly #indices = new Map<string, number>();

  constructor(request: ReceivedRequest) {
    this.#request = request;
    const raws = request.raw_input_contents.length;
    if (raws > 0 && raws !== request.inputs.length) {
      throw new InvalidStreamMessage(`${raws} raw contents for ${request.inputs.length} inputs`);
    }
    for (const [index, { name, datatype, shape }] of request.inputs.entries()) {
      const expected = DATATYPES.get(name);
      if (expected === undefined) {
        throw new InvalidStreamMessage('an input is none of those of a moderation stream');
      }
      if (this.#indices.has(name)) throw new InvalidStreamMessage(`input ${name} is given more than once`);
      if (datatype !== expected)
        throw new InvalidStreamMessage(`input ${name} is not of data type ${expected}`);
      if (shape.length < 1 || shape.length > 2 || shape.some((size) => size !== 1)) {
        throw new InvalidStreamMessage(`input ${name} has neither shape [1] nor [1,1]`);
      }
      this.#indices.set(name, index);
    }
  }

  text(name: string): string | null {
    const bytes = this.#element(name, oneBytes, ({ contents }) => contents.bytes);
    if (bytes === null) return null;
    if (!isUtf8(bytes)) throw new InvalidStreamMessage(`input ${name} is not UTF-8`);
    return bytes.toString();
  }

  integer(name: string): number | null {
    return this.#element(name, oneLong, ({ contents }) => contents.longs);
  }

  boolean(name: string): boolean | null {
    return this.#element(name, oneBoolean, ({ contents }) => contents.booleans);
  }

  #element<T>(
    name: string,
    decode: (raw: Buffer) => T | null,
    typed: (tensor: ReceivedTensor) => readonly T[],
  ): T | null {
    const index = this.#indices.get(name);
    if (index === undefined) return null;
    const raw = this.#request.raw_input_contents[index];
    const value = raw === undefined ? onlyOne(typed(this.#request.inputs[index]!)) : decode(raw);
    if (value === null) throw new InvalidStreamMessage(`input ${name} does not hold one valid element`);
    return value;
  }
}

function onlyOne<T>(values: readonly T[]): T | null {
  return values.length === 1 ? values[0]! : null;
}
