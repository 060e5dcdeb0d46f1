import {
  MAX_VALUES,
  type ParameterValue,
  type ReceivedRequest,
  type ReceivedTensor,
} from '../../guard/tensors/wire/infer-messages.ts';
import { invalidRequest } from '../contract/request-error.ts';
import { encodeData, holdsOnly, NO_DATA, readData } from './json-data.ts';
import { JsonCursor, MalformedJson } from './json-cursor.ts';

/** The model that the path of a request names. `version` '': the current one. */
export interface ModelRef {
  readonly name: string;
  readonly version: string;
}

export interface InferCall {
  readonly request: ReceivedRequest;
  /** Whether an output is sent as binary data, and not in the JSON. */
  readonly isBinary: (output: string) => boolean;
}

interface JsonInput extends ReceivedTensor {
  /** Bytes of its contents behind the JSON; null: they are in the JSON. */
  readonly binarySize: number | null;
}

interface JsonOutput {
  readonly name: string;
  readonly parameters: readonly string[];
  /** Null: as the request says for all outputs. */
  readonly isBinary: boolean | null;
}

/** Of an input whose data is in shared memory: the name of the region. */
const SHARED_MEMORY = 'shared_memory_region';

type Parameters = ReadonlyMap<string, ParameterValue>;

/**
 * Reads the body of an inference request: JSON, and with the binary tensor data extension the raw contents of inputs
 * behind it (Triton, docs/protocol/extension_binary_data.md). `jsonLength` is the header Inference-Header-Content-Length;
 * undefined: all of the body is JSON. Contents are views into the body, except for strings with escapes.
 * Throws RequestError: INVALID_REQUEST for a malformed body, and for one with more than MAX_VALUES values.
 */
export function readInferCall(body: Buffer, jsonLength: string | undefined, model: ModelRef): InferCall {
  const end = jsonLength === undefined ? body.length : readLength(jsonLength, body.length);
  try {
    return new InferBody(body.subarray(0, end)).read(model, body.subarray(end));
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    throw invalidRequest('', `the JSON of the request is not usable: ${error.message}`);
  }
}

function readLength(header: string, bodyLength: number): number {
  const length = /^\d{1,10}$/.test(header) ? Number(header) : 0;
  if (length < 1 || length > bodyLength) {
    throw invalidRequest('', `Inference-Header-Content-Length is not between 1 and ${bodyLength}`);
  }
  return length;
}

class InferBody {
  readonly #reader: JsonCursor;
  #id = '';
  #parameters: Parameters = new Map();
  readonly #inputs: JsonInput[] = [];
  readonly #outputs: JsonOutput[] = [];

  constructor(json: Buffer) {
    this.#reader = new JsonCursor(json, MAX_VALUES);
  }

  read(model: ModelRef, binary: Buffer): InferCall {
    this.#reader.members((name) => this.#readMember(name));
    this.#reader.end();
    const byDefault = this.#flag(this.#parameters, 'binary_data_output') ?? false;
    const perOutput = new Map(this.#outputs.map(({ name, isBinary }) => [name, isBinary]));
    const request: ReceivedRequest = {
      model_name: model.name,
      model_version: model.version,
      id: this.#id,
      parameters: this.#parameters,
      outputs: this.#outputs,
      ...this.#contents(binary),
    };
    return { request, isBinary: (output) => perOutput.get(output) ?? byDefault };
  }

  #readMember(name: string): void {
    const reader = this.#reader;
    if (name === 'id') this.#id = reader.text();
    else if (name === 'parameters') this.#parameters = readParameters(reader);
    else if (name === 'inputs') reader.elements(() => void this.#inputs.push(this.#readInput()));
    else if (name === 'outputs') reader.elements(() => void this.#outputs.push(this.#readOutput()));
    else reader.skip();
  }

  #readInput(): JsonInput {
    const reader = this.#reader;
    let name = '';
    let datatype = '';
    const shape: number[] = [];
    let parameters: Parameters = new Map();
    let data: ReceivedTensor['contents'] | null = null;
    reader.members((member) => {
      if (member === 'name') name = reader.text();
      else if (member === 'datatype') datatype = reader.text();
      else if (member === 'shape') reader.elements(() => void shape.push(reader.number()));
      else if (member === 'parameters') parameters = readParameters(reader);
      else if (member === 'data') data = readData(reader);
      else reader.skip();
    });
    const binarySize = this.#size(parameters);
    // Such an input is refused by its parameter, as over gRPC, once the request is read.
    const isShared = parameters.has(SHARED_MEMORY);
    if (!isShared && (data === null) === (binarySize === null)) {
      throw this.#invalid('an input needs either data or the parameter binary_data_size');
    }
    const contents = data ?? NO_DATA;
    if (!holdsOnly(contents, datatype)) throw this.#invalid('the data of an input are not of its data type');
    return { name, datatype, shape, parameters: [...parameters.keys()], contents, binarySize };
  }

  #readOutput(): JsonOutput {
    const reader = this.#reader;
    let name = '';
    let parameters: Parameters = new Map();
    reader.members((member) => {
      if (member === 'name') name = reader.text();
      else if (member === 'parameters') parameters = readParameters(reader);
      else reader.skip();
    });
    const isBinary = this.#flag(parameters, 'binary_data');
    return { name, parameters: [...parameters.keys()], isBinary };
  }

  /** The inputs, and their raw contents if any of them is binary: a request has either raw or typed contents. */
  #contents(binary: Buffer): Pick<ReceivedRequest, 'inputs' | 'raw_input_contents'> {
    let at = 0;
    const raw = this.#inputs.map(({ binarySize }) => {
      const from = at;
      at += binarySize ?? 0;
      return binary.subarray(from, at);
    });
    if (at !== binary.length) {
      throw this.#invalid(
        `${binary.length} bytes follow the JSON, the inputs have ${at} bytes of binary data`,
      );
    }
    if (this.#inputs.every(({ binarySize }) => binarySize === null)) {
      return { inputs: this.#inputs, raw_input_contents: [] };
    }
    return {
      inputs: this.#inputs.map((input) => ({ ...input, contents: NO_DATA })),
      raw_input_contents: this.#inputs.map(({ binarySize, contents }, index) =>
        binarySize === null ? encodeData(contents) : raw[index]!,
      ),
    };
  }

  #size(parameters: Parameters): number | null {
    const size = parameters.get('binary_data_size');
    if (size === undefined) return null;
    if (!Number.isSafeInteger(size) || Number(size) < 0) {
      throw this.#invalid('binary_data_size is a number of bytes');
    }
    return Number(size);
  }

  #flag(parameters: Parameters, name: string): boolean | null {
    const value = parameters.get(name);
    if (value === undefined) return null;
    if (typeof value !== 'boolean') throw this.#invalid(`${name} is true or false`);
    return value;
  }

  #invalid(text: string): Error {
    return invalidRequest(this.#id, text);
  }
}

function readParameters(reader: JsonCursor): Parameters {
  const parameters = new Map<string, ParameterValue>();
  reader.members((name) => {
    const type = reader.type();
    if (type === 'string') parameters.set(name, reader.text());
    else if (type === 'boolean') parameters.set(name, reader.boolean());
    else {
      const value = reader.number();
      parameters.set(name, Number.isInteger(value) ? value : null);
    }
  });
  return parameters;
}
