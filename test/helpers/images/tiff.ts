/** A field of a TIFF directory: its tag, how wide its values are (16 or 32 bits), and the values. */
export type TiffField = readonly [tag: number, bits: 16 | 32, ...values: number[]];

/** A page of a TIFF file: its fields in ascending order, and the data of its strip, or of each of its tiles. */
export interface TiffPage {
  readonly fields: readonly TiffField[];
  readonly data: Uint8Array;
}

const HEADER_BYTES = 8;
const FIELD_BYTES = 12;
/** Tags of where strips and tiles begin, and of how long they are: each of them is the same data. */
const OFFSET_TAGS: ReadonlySet<number> = new Set([273, 324]);
const LENGTH_TAGS: ReadonlySet<number> = new Set([279, 325]);

/** A little-endian TIFF file. Values of the tags for the data's places and lengths are filled in. */
export function tiffFile(pages: readonly TiffPage[]): Buffer {
  const parts: Buffer[] = [Buffer.from('II*\0\x08\0\0\0', 'latin1')];
  let at = HEADER_BYTES;
  for (const [index, { fields, data }] of pages.entries()) {
    const directory = Buffer.alloc(2 + fields.length * FIELD_BYTES + 4);
    const dataAt = at + directory.length;
    directory.writeUInt16LE(fields.length, 0);
    let valuesAt = dataAt + data.length + (data.length % 2);
    const values: Buffer[] = [];
    for (const [position, [tag, bits, ...given]] of fields.entries()) {
      const fieldAt = 2 + position * FIELD_BYTES;
      const stored = given.map((value) =>
        OFFSET_TAGS.has(tag) ? dataAt : LENGTH_TAGS.has(tag) ? data.length : value,
      );
      directory.writeUInt16LE(tag, fieldAt);
      directory.writeUInt16LE(bits === 16 ? 3 : 4, fieldAt + 2);
      directory.writeUInt32LE(stored.length, fieldAt + 4);
      const bytes = Buffer.alloc(Math.max(4, (stored.length * bits) / 8));
      for (const [place, value] of stored.entries()) bytes.writeUIntLE(value, (place * bits) / 8, bits / 8);
      if (bytes.length === 4) bytes.copy(directory, fieldAt + 8);
      else {
        directory.writeUInt32LE(valuesAt, fieldAt + 8);
        values.push(bytes);
        valuesAt += bytes.length;
      }
    }
    const isLast = index === pages.length - 1;
    directory.writeUInt32LE(isLast ? 0 : valuesAt, directory.length - 4);
    parts.push(directory, Buffer.from(data), Buffer.alloc(data.length % 2), ...values);
    at = valuesAt;
  }
  return Buffer.concat(parts);
}
