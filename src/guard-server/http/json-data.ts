import type { ReceivedTensor } from '../../guard/tensors/wire/infer-messages.ts';
import { encodeBooleans, encodeByteStrings } from '../../guard/tensors/raw.ts';
import type { JsonCursor } from './json-cursor.ts';

type Contents = ReceivedTensor['contents'];

export const NO_DATA: Contents = { booleans: [], bytes: [], longs: [], hasOthers: false };

/**
 * Reads the `data` of an input: its elements in row-major order, as one array or nested by its dimensions. Strings are
 * elements of BYTES, true and false of BOOL. Numbers are only checked: no input of the guard's contract holds any.
 * Throws MalformedJson for anything else.
 */
export function readData(reader: JsonCursor): Contents {
  const data = { booleans: [] as boolean[], bytes: [] as Buffer[], longs: [], hasOthers: false };
  const readElement = (): void => {
    const type = reader.type();
    if (type === 'array') reader.elements(readElement);
    else if (type === 'string') data.bytes.push(reader.bytes());
    else if (type === 'boolean') data.booleans.push(reader.boolean());
    else {
      reader.number();
      data.hasOthers = true;
    }
  };
  reader.elements(readElement);
  return data;
}

/** Whether all elements are of this data type. True for data types that no input of the guard's contract has. */
export function holdsOnly({ booleans, bytes, hasOthers }: Contents, datatype: string): boolean {
  switch (datatype) {
    case 'BYTES':
      return booleans.length === 0 && !hasOthers;
    case 'BOOL':
      return bytes.length === 0 && !hasOthers;
    default:
      return true;
  }
}

/** The raw layout of data of one type. */
export function encodeData({ booleans, bytes }: Contents): Buffer {
  return booleans.length > 0 ? encodeBooleans(booleans) : encodeByteStrings(bytes);
}
