/** One directory (IFD) of a TIFF file, which describes a page. */
export interface TiffDirectory {
  /** Offset of the directory. */
  readonly at: number;
  /** Offset of the field that holds the next directory's offset; null if the file ends before it. */
  readonly nextAt: number | null;
  /** Whether its next offset is 0, which ends the chain. */
  readonly isLast: boolean;
  /** Up to four values of a tag in `TAGS`; empty if the tag is missing. */
  readonly values: (tag: number) => readonly number[];
}

/** Tags of TIFF 6.0 and its supplements that describe how samples are stored. */
export const TAGS = {
  subfile: 254,
  bits: 258,
  compression: 259,
  photometric: 262,
  samples: 277,
  planes: 284,
  tileWidth: 322,
  tileHeight: 323,
  sampleFormat: 339,
} as const;
const READ: ReadonlySet<number> = new Set(Object.values(TAGS));

const MAX_VALUES = 4;
/** Entries of all directories together. Only a malicious file has more. */
const MAX_ENTRIES = 2 ** 20;
/** Bytes per value, by type number: the types that the tags above use. */
const BYTES_OF_TYPE = new Map([
  [1, 1],
  [3, 2],
  [4, 4],
  [13, 4],
  [16, 8],
  [18, 8],
]);

/**
 * The directories of a TIFF or BigTIFF file in the order of their chain, up to the first broken or repeated one. Never
 * throws; linear in the file.
 */
export function readTiffDirectories(bytes: Buffer): readonly TiffDirectory[] {
  const layout = new Layout(bytes);
  const directories: TiffDirectory[] = [];
  const seen = new Set<number>();
  let entries = 0;
  for (let at = layout.offset(layout.firstAt); at !== null && at !== 0 && !seen.has(at);) {
    seen.add(at);
    const count = layout.number(at, layout.countBytes);
    if (count === null || (entries += count + 1) > MAX_ENTRIES) break;
    const directory = readDirectory(layout, at, count);
    directories.push(directory);
    at = directory.nextAt === null ? null : layout.offset(directory.nextAt);
  }
  return directories;
}

/** A copy of the file with only this directory, so that errors in the others do not matter. */
export function isolated(bytes: Buffer, { at, nextAt }: TiffDirectory): Buffer {
  const layout = new Layout(Buffer.from(bytes));
  layout.writeOffset(layout.firstAt, at);
  if (nextAt !== null) layout.writeOffset(nextAt, 0);
  return layout.bytes;
}

function readDirectory(layout: Layout, at: number, count: number): TiffDirectory {
  const entriesAt = at + layout.countBytes;
  const values = new Map<number, readonly number[]>();
  for (let entry = 0; entry < count; entry++) {
    const entryAt = entriesAt + entry * layout.entryBytes;
    const tag = layout.number(entryAt, 2);
    if (tag !== null && READ.has(tag)) values.set(tag, readValues(layout, entryAt));
  }
  const nextAt = entriesAt + count * layout.entryBytes;
  const next = layout.offset(nextAt);
  return {
    at,
    nextAt: next === null ? null : nextAt,
    isLast: next === 0,
    values: (tag) => values.get(tag) ?? [],
  };
}

function readValues(layout: Layout, entryAt: number): number[] {
  const size = BYTES_OF_TYPE.get(layout.number(entryAt + 2, 2) ?? 0);
  const count = layout.number(entryAt + 4, layout.offsetBytes);
  if (size === undefined || count === null) return [];
  const fieldAt = entryAt + 4 + layout.offsetBytes;
  // the field holds values that fit, otherwise their offset
  const from = size * count <= layout.offsetBytes ? fieldAt : layout.offset(fieldAt);
  const values: number[] = [];
  for (let index = 0; from !== null && index < Math.min(count, MAX_VALUES); index++) {
    const value = layout.number(from + index * size, size);
    if (value !== null) values.push(value);
  }
  return values;
}

/** How numbers are stored in a file: byte order and offset width (4 bytes, 8 in BigTIFF). */
class Layout {
  readonly bytes: Buffer;
  readonly firstAt: number;
  readonly offsetBytes: 4 | 8;
  readonly countBytes: 2 | 8;
  readonly entryBytes: 12 | 20;
  readonly #isLittle: boolean;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#isLittle = bytes[0] === 0x49;
    const isBig = bytes[this.#isLittle ? 2 : 3] === 0x2b;
    this.firstAt = isBig ? 8 : 4;
    this.offsetBytes = isBig ? 8 : 4;
    this.countBytes = isBig ? 8 : 2;
    this.entryBytes = isBig ? 20 : 12;
  }

  /** Null past the end of the file. */
  number(at: number, size: number): number | null {
    if (at + size > this.bytes.length) return null;
    if (size === 8) {
      return Number(this.#isLittle ? this.bytes.readBigUInt64LE(at) : this.bytes.readBigUInt64BE(at));
    }
    return this.#isLittle ? this.bytes.readUIntLE(at, size) : this.bytes.readUIntBE(at, size);
  }

  offset(at: number): number | null {
    return this.number(at, this.offsetBytes);
  }

  writeOffset(at: number, offset: number): void {
    if (this.offsetBytes === 4) {
      if (this.#isLittle) this.bytes.writeUInt32LE(offset, at);
      else this.bytes.writeUInt32BE(offset, at);
    } else if (this.#isLittle) this.bytes.writeBigUInt64LE(BigInt(offset), at);
    else this.bytes.writeBigUInt64BE(BigInt(offset), at);
  }
}
