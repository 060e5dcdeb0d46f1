import { notDecompressed } from './copy-output.ts';

/** Bits of a Zstandard stream that is written forwards and read backwards (RFC 8878, 4.1). */
export class BackwardBits {
  readonly #bytes: Buffer;
  /** Bits that are left. Below 0: bits before the stream, which are zeros. */
  left: number;

  constructor(bytes: Buffer) {
    const last = bytes.at(-1);
    if (last === undefined || last === 0) throw notDecompressed();
    this.#bytes = bytes;
    // The highest bit that is set marks the end.
    this.left = (bytes.length - 1) * 8 + (31 - Math.clz32(last));
  }

  /** Up to 31 bits. */
  read(bits: number): number {
    this.left -= bits;
    const from = this.left;
    if (from >= 0 && bits <= 17) {
      const at = from >> 3;
      const word = this.#bytes[at]! | ((this.#bytes[at + 1] ?? 0) << 8) | ((this.#bytes[at + 2] ?? 0) << 16);
      return (word >>> (from & 7)) & ((1 << bits) - 1);
    }
    let value = 0;
    for (let bit = bits - 1; bit >= 0; bit--) {
      const at = from + bit;
      value = value * 2 + (at < 0 ? 0 : (this.#bytes[at >> 3]! >> (at & 7)) & 1);
    }
    return value;
  }
}

/** A table of a finite state entropy code (RFC 8878, 4.1.1): by state. */
export interface FseTable {
  readonly accuracy: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

/** The table that gives each symbol its probability; -1 stands for less than 1. */
export function fseTable(accuracy: number, probabilities: readonly number[]): FseTable {
  const size = 1 << accuracy;
  const symbols = new Uint8Array(size);
  const next = probabilities.map((probability) => Math.abs(probability));
  let high = size;
  probabilities.forEach((probability, symbol) => {
    if (probability === -1) symbols[--high] = symbol;
  });
  const step = (size >> 1) + (size >> 3) + 3;
  let position = 0;
  probabilities.forEach((probability, symbol) => {
    for (let times = 0; times < probability; times++) {
      symbols[position] = symbol;
      do position = (position + step) & (size - 1);
      while (position >= high);
    }
  });
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  symbols.forEach((symbol, state) => {
    const following = next[symbol]!++;
    bits[state] = accuracy - (31 - Math.clz32(following));
    bases[state] = (following << bits[state]) - size;
  });
  return { accuracy, symbols, bits, bases };
}

/** The table that always gives one symbol. */
export function constantTable(symbol: number): FseTable {
  return { accuracy: 0, symbols: Uint8Array.of(symbol), bits: Uint8Array.of(0), bases: Uint16Array.of(0) };
}

/** Reads the description of a table for symbols up to `maxSymbol`; `end`: the offset after it. */
export function readFseTable(
  bytes: Buffer,
  maxAccuracy: number,
  maxSymbol: number,
): { readonly table: FseTable; readonly end: number } {
  let at = 0;
  const read = (bits: number): number => {
    let value = 0;
    for (let bit = 0; bit < bits; bit++, at++) value |= (((bytes[at >> 3] ?? 0) >> (at & 7)) & 1) << bit;
    return value;
  };
  const accuracy = read(4) + 5;
  if (accuracy > maxAccuracy) throw notDecompressed();
  const probabilities: number[] = [];
  let remaining = 1 << accuracy;
  while (remaining > 0) {
    const bits = 32 - Math.clz32(remaining + 1);
    const low = (1 << (bits - 1)) - 1;
    const threshold = (1 << bits) - 2 - remaining;
    let value = read(bits);
    if ((value & low) < threshold) {
      at--;
      value &= low;
    } else if (value > low) value -= threshold;
    remaining -= Math.abs(value - 1);
    probabilities.push(value - 1);
    if (value === 1) {
      for (let zeros = 3; zeros === 3;) {
        zeros = read(2);
        for (let times = 0; times < zeros; times++) probabilities.push(0);
        if (probabilities.length > maxSymbol + 1) throw notDecompressed();
      }
    }
    if (probabilities.length > maxSymbol + 1 || at > bytes.length * 8) throw notDecompressed();
  }
  if (remaining < 0) throw notDecompressed();
  return { table: fseTable(accuracy, probabilities), end: (at + 7) >> 3 };
}

/** A state in a table. */
export class FseState {
  readonly #table: FseTable;
  readonly #input: BackwardBits;
  #state: number;

  constructor(table: FseTable, input: BackwardBits) {
    this.#table = table;
    this.#input = input;
    this.#state = input.read(table.accuracy);
  }

  get symbol(): number {
    return this.#table.symbols[this.#state]!;
  }

  update(): void {
    this.#state = this.#table.bases[this.#state]! + this.#input.read(this.#table.bits[this.#state]!);
  }
}
