import { hash } from 'node:crypto';

/**
 * The guard's contract as fake guards speak it: tensors, ordinary verdicts and their raw form. It shares no code with the
 * guard client or the embedded guard.
 */

type TensorRow = readonly [name: string, datatype: string, dims: readonly number[]];

/** Dimensions do not include that of a batch. */
export const INPUTS: readonly TensorRow[] = [
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
export const OUTPUTS: readonly TensorRow[] = [
  ['SCORE', 'FP32', [1]],
  ['FLAGGED', 'BOOL', [1]],
  ['SUBCATEGORY_SCORES', 'FP32', [13]],
  ['SUBCATEGORY_FLAGS', 'BOOL', [13]],
  ['CACHE_USAGE', 'INT32', [8]],
];

/** Tensors as Triton's model configuration declares them. */
export function configTensors(list: readonly TensorRow[]) {
  return list.map(([name, datatype, dims]) => {
    return {
      name,
      data_type: `TYPE_${datatype === 'BYTES' ? 'STRING' : datatype}`,
      dims,
      optional: true,
      allow_ragged_batch: false,
    };
  });
}

/** Tensors as the metadata of a model declares them. */
export function metadataTensors(list: readonly TensorRow[], batched = true) {
  return list.map(([name, datatype, dims]) => ({ name, datatype, shape: batched ? [-1, ...dims] : dims }));
}

/** The harmless text with which a client finds out whether a guard judges. */
export const HARMLESS = 'The library opens at nine on weekdays.';

/** An element of a tensor; null for a number that JSON does not have. */
export type Value = number | boolean | string | null;

/** An output of a reply with its elements. */
export interface Output {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data: readonly Value[];
}

/** The output that answers a `version` request. */
export function versionOutput(model: string, batched = true): Output {
  const shape = batched ? [1, 1] : [1];
  return { name: 'VERSION', datatype: 'BYTES', shape, data: [JSON.stringify(artifactsOf(model))] };
}

/** Artifact hashes, which the `version` request reports as JSON. */
export function artifactsOf(model: string): Record<string, string> {
  return { 'model.bin': hash('sha256', model), 'model.py': hash('sha256', 'code') };
}

/** Content of each row of a request: a text, a response, the last message, or an image or clip in base64. */
export function contentsOf(strings: Readonly<Record<string, readonly string[]>>): readonly string[] {
  const { IMAGE, AUDIO, RESPONSE_TEXT, TEXT, MESSAGES } = strings;
  return IMAGE ?? AUDIO ?? RESPONSE_TEXT ?? TEXT ?? [MESSAGES!.at(-1)!];
}

/** A score of six digits, which FP32 keeps, that depends on the content alone. */
export function scoreOf(content: string): number {
  return Number((parseInt(hash('sha256', content).slice(0, 6), 16) / 0xffffff).toPrecision(6));
}

/** The elements of each output of ordinary verdicts with these scores: hate is flagged from a half. */
export function valuesOf(scores: readonly number[]): Readonly<Record<string, Value[]>> {
  const each = <T>(width: number, value: (score: number, index: number) => T): T[] =>
    scores.flatMap((score) => Array.from({ length: width }, (_, index) => value(score, index)));
  return {
    SCORE: [...scores],
    FLAGGED: each(1, (score) => score >= 0.5),
    SUBCATEGORY_SCORES: each(13, (score) => (score >= 0.5 ? score : 0)),
    SUBCATEGORY_FLAGS: each(13, (score, index) => score >= 0.5 && index === 7),
    CACHE_USAGE: scores.flatMap(() => [1, 2, 3, 4, 5, 6, 7, -8]),
  };
}

/** Outputs of ordinary verdicts, with their elements. */
export function verdictOutputs(scores: readonly number[], batched: boolean): Output[] {
  const values = valuesOf(scores);
  return OUTPUTS.map(([name, datatype, dims]) => {
    return { name, datatype, shape: batched ? [scores.length, ...dims] : dims, data: values[name]! };
  });
}

/** Outputs, and apart from them their elements in raw form. */
export function rawOutputs(outputs: readonly Output[]) {
  return {
    outputs: outputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    raw_output_contents: outputs.map(({ datatype, data }) => rawOf(datatype, data)),
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

/** The elements of a BYTES tensor in raw form. */
export function stringsOf(raw: Buffer): string[] {
  const strings: string[] = [];
  for (let at = 0; at < raw.length;) {
    const end = at + 4 + raw.readUInt32LE(at);
    strings.push(raw.toString('utf8', at + 4, end));
    at = end;
  }
  return strings;
}
