import { CopyOutput, notDecompressed } from './copy-output.ts';
import { BackwardBits, constantTable, FseState, fseTable, readFseTable, type FseTable } from './entropy.ts';
import { readHuffmanStream, readHuffmanTable, type HuffmanTable } from './huffman.ts';

const MAGIC = 0xfd2fb528;
/** With any last hexadecimal digit. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAX_BLOCK_BYTES = 128 * 1024;

/** What a block may take over from earlier blocks of its frame. */
interface FrameState {
  huffman: HuffmanTable | null;
  readonly tables: [literals: FseTable | null, offsets: FseTable | null, matches: FseTable | null];
  readonly offsets: [number, number, number];
}

/** Decompresses Zstandard frames without a dictionary (RFC 8878) into exactly `size` bytes. Does not verify checksums. */
export function zstd(input: Buffer, size: number): Buffer {
  const output = new CopyOutput(size);
  for (let at = 0; at < input.length;) {
    const magic = input.readUInt32LE(at);
    if (magic >>> 4 === SKIPPABLE_MAGIC >>> 4) at += 8 + input.readUInt32LE(at + 4);
    else if (magic === MAGIC) at = readFrame(input, at + 4, output);
    else throw notDecompressed();
  }
  return output.end();
}

/** Returns the offset after the frame. */
function readFrame(input: Buffer, from: number, output: CopyOutput): number {
  const descriptor = input.readUInt8(from);
  const isSingle = (descriptor & 0x20) !== 0;
  const hasChecksum = (descriptor & 4) !== 0;
  if ((descriptor & 3) !== 0 || (descriptor & 8) !== 0) throw notDecompressed();
  const sizeFlag = descriptor >> 6;
  let at = from + 1 + (isSingle ? 0 : 1) + (sizeFlag === 0 ? (isSingle ? 1 : 0) : 1 << sizeFlag);
  const state: FrameState = { huffman: null, tables: [null, null, null], offsets: [1, 4, 8] };
  for (let isLast = false; !isLast;) {
    const header = input.readUIntLE(at, 3);
    at += 3;
    isLast = (header & 1) === 1;
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (size > MAX_BLOCK_BYTES) throw notDecompressed();
    if (type === 1) output.fill(input.readUInt8(at++), size);
    else if (type === 3 || size > input.length - at) throw notDecompressed();
    else {
      if (type === 0) output.literal(input, at, size);
      else readBlock(input.subarray(at, at + size), state, output);
      at += size;
    }
  }
  return at + (hasChecksum ? 4 : 0);
}

function readBlock(block: Buffer, state: FrameState, output: CopyOutput): void {
  const { literals, end } = readLiterals(block, state);
  readSequences(block.subarray(end), literals, state, output);
}

interface Literals {
  readonly literals: Buffer;
  readonly end: number;
}

/** RFC 8878, 3.1.1.3.1. */
function readLiterals(block: Buffer, state: FrameState): Literals {
  const type = block.readUInt8(0) & 3;
  const format = (block[0]! >> 2) & 3;
  if (type < 2) {
    const bytes = format === 3 ? 3 : format === 1 ? 2 : 1;
    const size = block.readUIntLE(0, bytes) >> (bytes === 1 ? 3 : 4);
    const end = bytes + (type === 0 ? size : 1);
    if (size > MAX_BLOCK_BYTES || end > block.length) throw notDecompressed();
    return { literals: type === 0 ? block.subarray(bytes, end) : Buffer.alloc(size, block[bytes]), end };
  }
  const bytes = Math.max(3, format + 2);
  const bits = [10, 10, 14, 18][format]!;
  const header = block.readUIntLE(0, bytes);
  const size = Math.floor(header / 16) % 2 ** bits;
  const stored = Math.floor(header / 2 ** (4 + bits));
  const end = bytes + stored;
  if (size > MAX_BLOCK_BYTES || end > block.length) throw notDecompressed();
  let streams = block.subarray(bytes, end);
  if (type === 2) {
    const tree = readHuffmanTable(streams);
    state.huffman = tree.table;
    streams = streams.subarray(tree.end);
  }
  if (state.huffman === null) throw notDecompressed();
  const literals = Buffer.allocUnsafeSlow(size);
  if (format === 0) readHuffmanStream(streams, state.huffman, literals);
  else readFourStreams(streams, state.huffman, literals);
  return { literals, end };
}

function readFourStreams(bytes: Buffer, table: HuffmanTable, output: Buffer): void {
  const each = Math.ceil(output.length / 4);
  let at = 6;
  for (let stream = 0; stream < 4; stream++) {
    const end = stream === 3 ? bytes.length : at + bytes.readUInt16LE(stream * 2);
    if (end > bytes.length) throw notDecompressed();
    const part = output.subarray(stream * each, stream === 3 ? output.length : (stream + 1) * each);
    readHuffmanStream(bytes.subarray(at, end), table, part);
    at = end;
  }
}

/** RFC 8878, 3.1.1.3.2. */
function readSequences(bytes: Buffer, literals: Buffer, state: FrameState, output: CopyOutput): void {
  let at = 1;
  let count = bytes.readUInt8(0);
  if (count === 0) {
    output.literal(literals, 0, literals.length);
    return;
  }
  if (count === 255) {
    count = bytes.readUInt16LE(1) + 0x7f00;
    at = 3;
  } else if (count > 127) count = ((count - 128) << 8) + bytes.readUInt8(at++);
  const modes = bytes.readUInt8(at++);
  KINDS.forEach((kind, index) => {
    const mode = (modes >> (6 - 2 * index)) & 3;
    if (mode === 0) state.tables[index] = kind.predefined;
    else if (mode === 1) {
      const symbol = bytes.readUInt8(at++);
      if (symbol > kind.maxSymbol) throw notDecompressed();
      state.tables[index] = constantTable(symbol);
    } else if (mode === 2) {
      const { table, end } = readFseTable(bytes.subarray(at), kind.maxAccuracy, kind.maxSymbol);
      state.tables[index] = table;
      at += end;
    }
  });
  const [forLiterals, forOffsets, forMatches] = state.tables;
  if (forLiterals === null || forOffsets === null || forMatches === null) throw notDecompressed();
  const input = new BackwardBits(bytes.subarray(at));
  const literalState = new FseState(forLiterals, input);
  const offsetState = new FseState(forOffsets, input);
  const matchState = new FseState(forMatches, input);
  let taken = 0;
  for (let left = count; left > 0; left--) {
    const offsetBits = offsetState.symbol;
    const stated = 2 ** offsetBits + input.read(offsetBits);
    const match = MATCH_BASES[matchState.symbol]! + input.read(MATCH_BITS[matchState.symbol]!);
    const length = LITERAL_BASES[literalState.symbol]! + input.read(LITERAL_BITS[literalState.symbol]!);
    if (left > 1) {
      literalState.update();
      matchState.update();
      offsetState.update();
    }
    if (input.left < 0) throw notDecompressed();
    output.literal(literals, taken, length);
    taken += length;
    output.repeat(offsetOf(stated, length, state.offsets), match);
  }
  if (input.left !== 0) throw notDecompressed();
  output.literal(literals, taken, literals.length - taken);
}

/** RFC 8878, 3.1.1.5: the values 1 to 3 refer to the last offsets. */
function offsetOf(stated: number, literals: number, last: FrameState['offsets']): number {
  if (stated > 3) {
    last[2] = last[1];
    last[1] = last[0];
    return (last[0] = stated - 3);
  }
  const index = stated - 1 + (literals === 0 ? 1 : 0);
  if (index === 0) return last[0];
  const offset = index === 3 ? last[0] - 1 : last[index]!;
  if (index > 1) last[2] = last[1];
  last[1] = last[0];
  return (last[0] = offset);
}

/** Codes of lengths: bases and additional bits (RFC 8878, 3.1.1.3.2.1.1). */
const LITERAL_BITS = [
  ...new Array<number>(16).fill(0),
  1,
  1,
  1,
  1,
  2,
  2,
  3,
  3,
  4,
  6,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  16,
];
const LITERAL_BASES = basesOf(0, LITERAL_BITS);
const MATCH_BITS = [
  ...new Array<number>(32).fill(0),
  1,
  1,
  1,
  1,
  2,
  2,
  3,
  3,
  4,
  4,
  5,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  16,
];
const MATCH_BASES = basesOf(3, MATCH_BITS);

/** Each code goes on where the one before it ends. */
function basesOf(first: number, bits: readonly number[]): readonly number[] {
  let base = first;
  return bits.map((own) => {
    const here = base;
    base += 2 ** own;
    return here;
  });
}

const ONE = 1;
const RARE = -1;

/** Literal lengths, offsets and match lengths: limits and predefined probabilities (RFC 8878, 3.1.1.3.2.2). */
const KINDS = [
  {
    maxAccuracy: 9,
    maxSymbol: 35,
    predefined: fseTable(6, [
      ...[4, 3, ...new Array<number>(11).fill(2), ONE, ONE, ONE, ...new Array<number>(9).fill(2)],
      ...[3, 2, ...new Array<number>(5).fill(ONE), ...new Array<number>(4).fill(RARE)],
    ]),
  },
  {
    maxAccuracy: 8,
    maxSymbol: 31,
    predefined: fseTable(5, [
      ...[...new Array<number>(6).fill(ONE), 2, 2, 2],
      ...[...new Array<number>(15).fill(ONE), ...new Array<number>(5).fill(RARE)],
    ]),
  },
  {
    maxAccuracy: 9,
    maxSymbol: 52,
    predefined: fseTable(6, [
      ...[ONE, 4, 3, ...new Array<number>(6).fill(2)],
      ...[...new Array<number>(37).fill(ONE), ...new Array<number>(7).fill(RARE)],
    ]),
  },
] as const;
