import { filterWith, VECTOR_BYTES } from './filter-memory.ts';
import type { Pixels } from './normal-image.ts';

/**
 * Bicubic downscaling that is bit-exact with the Pillow library: the kernel is scaled to all source pixels that a
 * target pixel covers, the weights are fixed-point numbers, and the result of the horizontal pass is rounded to bytes
 * before the vertical pass. The two passes are WebAssembly with SIMD (`wasm/filter.ts`), on a few rows at a time.
 */

/** Fractional bits of a weight. A byte times a sum of weights, which is below 1.5, fits in 32 bits. */
const WEIGHT_BITS = 22;
const CHANNELS = 3;

/** Half the width of the kernel, in target pixels. */
const SUPPORT = 2;
/** The kernel's parameter, usually called a. */
const SHARPNESS = -0.5;

/** The weights of consecutive source positions, starting at `first`, for one target position. */
interface Taps {
  readonly first: number;
  readonly weights: Int32Array;
}

/** Max source bytes to scale at once, so they stay in the processor's cache. At least two rows in any case. */
const STRIP_BYTES = 256 * 1024;
/** See `wasm/filter.ts`. */
const HEADER_BYTES = 8;
const PAIR_BYTES = 8;

/**
 * Scales an image down. An axis that keeps its length is not filtered; neither axis may grow. Takes about 2 ns per
 * source pixel, and memory for width x source height pixels.
 */
export function downscale(source: Pixels, width: number, height: number): Pixels {
  const narrowed = width === source.width ? source : narrow(source, width);
  return height === source.height ? narrowed : shorten(narrowed, height);
}

/** Scales the width. */
function narrow(source: Pixels, width: number): Pixels {
  const rowBytes = source.width * CHANNELS;
  const targetBytes = width * CHANNELS;
  const taps = axisTaps(source.width, width);
  const quads = Math.max(...taps.map(({ weights }) => Math.ceil(weights.length / 4)));
  const entryBytes = HEADER_BYTES + quads * 2 * PAIR_BYTES;
  // an even number: rows are scaled in pairs
  const strip = Math.max(2, Math.floor(STRIP_BYTES / rowBytes) & ~1);
  const from = entryBytes * width;
  const to = from + strip * rowBytes + VECTOR_BYTES;
  const { filter, memory, view } = filterWith(to + strip * targetBytes);
  taps.forEach(({ first, weights }, position) => {
    const entry = position * entryBytes;
    view.setInt32(entry, first * CHANNELS, true);
    view.setInt32(entry + 4, Math.ceil(weights.length / 4), true);
    writePairs(view, entry + HEADER_BYTES, weights);
  });
  const rgb = new Uint8Array(targetBytes * source.height);
  for (let row = 0; row < source.height; row += strip) {
    const rows = Math.min(strip, source.height - row);
    memory.set(source.rgb.subarray(row * rowBytes, (row + rows) * rowBytes), from);
    filter.filterRows(from, rowBytes, rows, 0, entryBytes, width, to);
    rgb.set(memory.subarray(to, to + rows * targetBytes), row * targetBytes);
  }
  return { width, height: source.height, rgb };
}

/** Scales the height. */
function shorten(source: Pixels, height: number): Pixels {
  const rowBytes = source.width * CHANNELS;
  const taps = axisTaps(source.height, height);
  // an even number: rows are summed in pairs, and the last may have weight 0
  const rows = (Math.max(...taps.map(({ weights }) => weights.length)) + 1) & ~1;
  const from = (rows / 2) * PAIR_BYTES;
  const to = from + rows * rowBytes + VECTOR_BYTES;
  const { filter, memory, view } = filterWith(to + rowBytes + VECTOR_BYTES);
  const rgb = new Uint8Array(rowBytes * height);
  taps.forEach(({ first, weights }, position) => {
    writePairs(view, 0, weights);
    memory.set(source.rgb.subarray(first * rowBytes, (first + weights.length) * rowBytes), from);
    filter.filterColumns(from, rowBytes, 0, Math.ceil(weights.length / 2), to);
    rgb.set(memory.subarray(to, to + rowBytes), position * rowBytes);
  });
  return { width: source.width, height, rgb };
}

/** Writes weights as the filter expects them, in pairs of their upper and of their lower halves. */
function writePairs(view: DataView, at: number, weights: Int32Array): void {
  for (let tap = 0; tap < weights.length; tap += 2) {
    const one = weights[tap]!;
    const next = weights[tap + 1] ?? 0;
    view.setInt16(at, one >> 8, true);
    view.setInt16(at + 2, next >> 8, true);
    view.setInt16(at + 4, one & 0xff, true);
    view.setInt16(at + 6, next & 0xff, true);
    at += PAIR_BYTES;
  }
}

function axisTaps(sourceLength: number, length: number): readonly Taps[] {
  const scale = sourceLength / length;
  const reach = SUPPORT * scale;
  // multiply by this instead of dividing by scale: the last bit of the weights depends on it
  const perSourcePixel = 1 / scale;
  return Array.from({ length }, (_, position) => {
    const centre = (position + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - reach + 0.5));
    const count = Math.min(sourceLength, Math.trunc(centre + reach + 0.5)) - first;
    const exact = new Float64Array(count);
    let sum = 0;
    for (let tap = 0; tap < count; tap++) {
      exact[tap] = kernel((tap + first - centre + 0.5) * perSourcePixel);
      sum += exact[tap]!;
    }
    const weights = Int32Array.from(exact, (weight) => {
      const scaled = (weight / sum) * 2 ** WEIGHT_BITS;
      return Math.trunc(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    });
    return { first, weights };
  });
}

/** Cubic convolution kernel (Keys, 1981). The order of operations matters: it must yield the same doubles as Pillow. */
function kernel(offset: number): number {
  const x = Math.abs(offset);
  if (x < 1) return ((SHARPNESS + 2) * x - (SHARPNESS + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * SHARPNESS;
  return 0;
}

/** Longest edge of an image in normalized format, in pixels. */
const MAX_EDGE = 512;

/**
 * Size of an image in normalized format: unchanged if the longest edge has at most `maxEdge` pixels (512). Otherwise
 * that edge becomes `maxEdge`, and the other is scaled proportionally, rounded half to even, at least 1.
 */
export function targetSize(
  width: number,
  height: number,
  maxEdge = MAX_EDGE,
): { width: number; height: number } {
  const longest = Math.max(width, height);
  if (longest <= maxEdge) return { width, height };
  const shortest = Math.max(1, roundedQuotient(Math.min(width, height) * maxEdge, longest));
  return width >= height
    ? { width: maxEdge, height: width === height ? maxEdge : shortest }
    : { width: shortest, height: maxEdge };
}

/** Rounds half to even in integers: a floating-point quotient may wrongly look like a half. */
function roundedQuotient(dividend: number, divisor: number): number {
  const down = Math.floor(dividend / divisor);
  const twiceRest = 2 * (dividend - down * divisor);
  if (twiceRest === divisor) return down + (down % 2);
  return twiceRest > divisor ? down + 1 : down;
}
