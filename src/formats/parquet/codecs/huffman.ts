import { notDecompressed } from './copy-output.ts';
import { BackwardBits, FseState, readFseTable } from './entropy.ts';

/** A Huffman code (RFC 8878, 4.2): symbol and length by the next `maxBits` bits. */
export interface HuffmanTable {
  readonly maxBits: number;
  readonly symbols: Uint8Array;
  readonly lengths: Uint8Array;
}

const MAX_BITS = 11;
const MAX_SYMBOLS = 256;
const MAX_WEIGHT_ACCURACY = 6;

/** Reads the description of a code; `end`: the offset after it. */
export function readHuffmanTable(bytes: Buffer): { readonly table: HuffmanTable; readonly end: number } {
  const header = bytes.readUInt8(0);
  if (header >= 128) {
    const count = header - 127;
    const end = 1 + Math.ceil(count / 2);
    if (end > bytes.length) throw notDecompressed();
    const weights = Array.from({ length: count }, (_, index) => {
      const pair = bytes[1 + (index >> 1)]!;
      return index % 2 === 0 ? pair >> 4 : pair & 15;
    });
    return { table: huffmanTable(weights), end };
  }
  const end = 1 + header;
  if (end > bytes.length) throw notDecompressed();
  return { table: huffmanTable(readWeights(bytes.subarray(1, end))), end };
}

/** Weights in two interleaved states. */
function readWeights(bytes: Buffer): number[] {
  const { table, end } = readFseTable(bytes, MAX_WEIGHT_ACCURACY, MAX_BITS + 1);
  const input = new BackwardBits(bytes.subarray(end));
  const states = [new FseState(table, input), new FseState(table, input)] as const;
  const weights: number[] = [];
  for (let turn = 0; weights.length < MAX_SYMBOLS; turn++) {
    const state = states[turn % 2]!;
    weights.push(state.symbol);
    state.update();
    if (input.left >= 0) continue;
    weights.push(states[(turn + 1) % 2]!.symbol);
    return weights;
  }
  throw notDecompressed();
}

/** The weight of the last symbol is not stated: it completes the code. */
function huffmanTable(stated: readonly number[]): HuffmanTable {
  let sum = 0;
  for (const weight of stated) {
    if (weight > MAX_BITS + 1) throw notDecompressed();
    if (weight > 0) sum += 2 ** (weight - 1);
  }
  const maxBits = 32 - Math.clz32(sum);
  const last = Math.log2(2 ** maxBits - sum);
  if (sum === 0 || maxBits > MAX_BITS || !Number.isInteger(last) || stated.length >= MAX_SYMBOLS) {
    throw notDecompressed();
  }
  const weights = [...stated, last + 1];
  const symbols = new Uint8Array(1 << maxBits);
  const lengths = new Uint8Array(1 << maxBits);
  let at = 0;
  for (let weight = 1; weight <= maxBits; weight++) {
    for (const [symbol, own] of weights.entries()) {
      if (own !== weight) continue;
      const end = at + 2 ** (weight - 1);
      symbols.fill(symbol, at, end);
      lengths.fill(maxBits + 1 - weight, at, end);
      at = end;
    }
  }
  return { maxBits, symbols, lengths };
}

/** Decodes one stream into all of `output`. */
export function readHuffmanStream(
  bytes: Buffer,
  { maxBits, symbols, lengths }: HuffmanTable,
  output: Buffer,
): void {
  const input = new BackwardBits(bytes);
  const mask = (1 << maxBits) - 1;
  let state = input.read(maxBits);
  for (let index = 0; index < output.length; index++) {
    output[index] = symbols[state]!;
    const bits = lengths[state]!;
    state = ((state << bits) | input.read(bits)) & mask;
  }
  if (input.left !== -maxBits) throw notDecompressed();
}
