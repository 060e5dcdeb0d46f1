import { encodeBooleans, encodeByteStrings, encodeInts } from '../raw.ts';
import { FieldReader, MalformedMessage, type ValueBudget } from './field-reader.ts';

/** Field of InferTensorContents for each data type of the contract. */
const FIELDS: ReadonlyMap<string, number> = new Map([
  ['BOOL', 1],
  ['INT32', 2],
  ['FP32', 6],
  ['BYTES', 8],
]);

const INT32_LIMIT = 2 ** 31;

/**
 * The raw form (raw.ts) of a tensor's typed contents. Empty for data types that are not in the contract. `messages`: the
 * tensor's InferTensorContents, which protobuf merges when there are several. Throws MalformedMessage for contents of
 * another type than the tensor's.
 */
export function rawOfTyped(datatype: string, messages: readonly Buffer[], budget: ValueBudget): Buffer {
  const field = FIELDS.get(datatype);
  if (field === undefined) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  const integers: number[] = [];
  for (const message of messages) {
    const fields = new FieldReader(message, budget);
    while (fields.next()) {
      if (fields.number !== field) throw new MalformedMessage('type of contents');
      if (datatype === 'FP32') chunks.push(fields.floats());
      else if (datatype === 'BYTES') chunks.push(fields.bytes());
      else fields.integers(integers);
    }
  }
  switch (datatype) {
    case 'FP32':
      return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    case 'BYTES':
      return encodeByteStrings(chunks);
    case 'BOOL':
      return encodeBooleans(integers.map((value) => value !== 0));
    default:
      if (!integers.every(isInt32)) throw new MalformedMessage('range of an integer');
      return encodeInts(integers);
  }
}

function isInt32(value: number): boolean {
  return value >= -INT32_LIMIT && value < INT32_LIMIT;
}
