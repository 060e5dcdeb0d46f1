/**
 * The two passes of a resize, and the filter of PNG, in AssemblyScript: TypeScript's syntax, compiled to WebAssembly with
 * SIMD by `build.mjs`. `../resize.ts` and `../png.ts` lay out the memory; `../resize.ts` explains the arithmetic.
 *
 * A weight is `high * 256 + low`, with `high` in 16 bits, signed, and `low` in 8: one instruction then multiplies and adds
 * 8 bytes at once without losing a bit. Weights come in pairs for two neighbours, the earlier in the lower 16 bits:
 *
 *   pair = high of both: i32, low of both: i32
 */

const PAIR_BYTES: usize = 8;
/** Offset of the first pixel, and number of quads (i32 each), in front of a position's weights. */
const HEADER_BYTES: usize = 8;
const HALF: i32 = 1 << 21;
const ZERO: u8 = 0xff;

/** The first two of the RGB pixels in a vector, as 16-bit numbers: red of both, green of both, blue of both. */
function pixels01(rgb: v128): v128 {
  return v128.swizzle(
    rgb,
    i8x16(0, ZERO, 3, ZERO, 1, ZERO, 4, ZERO, 2, ZERO, 5, ZERO, ZERO, ZERO, ZERO, ZERO),
  );
}

/** The next two. */
function pixels23(rgb: v128): v128 {
  return v128.swizzle(
    rgb,
    i8x16(6, ZERO, 9, ZERO, 7, ZERO, 10, ZERO, 8, ZERO, 11, ZERO, ZERO, ZERO, ZERO, ZERO),
  );
}

/** Adds four sums of products with the halves of the weights, and rounds them to integers. */
function round(high: v128, low: v128): v128 {
  return i32x4.shr_s(i32x4.add(i32x4.shl(high, 8), low), 22);
}

function storePixel(target: usize, high: v128, low: v128): void {
  const sums = round(high, low);
  const bytes = i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(sums, sums), sums);
  v128.store_lane<u16>(target, bytes, 0);
  v128.store_lane<u8>(target, bytes, 2, 2);
}

/**
 * Scales rows of RGB pixels, two at a time: for an odd number of rows, one more row of both buffers is touched. `table` has
 * an entry of `entryBytes` for each of the `width` positions in the target: a header, then the weights, in quads (two pairs).
 * Reads up to 16 bytes behind the last row.
 */
export function filterRows(
  source: usize,
  rowBytes: usize,
  rows: i32,
  table: usize,
  entryBytes: usize,
  width: i32,
  target: usize,
): void {
  const targetBytes = <usize>width * 3;
  for (let row = 0; row < rows; row += 2) {
    let entry = table;
    for (let column = 0; column < width; column++) {
      let at = source + <usize>load<i32>(entry);
      let weights = entry + HEADER_BYTES;
      const end = weights + <usize>load<i32>(entry, 4) * 2 * PAIR_BYTES;
      let high = i32x4.splat(0);
      let low = i32x4.splat(HALF);
      let nextHigh = high;
      let nextLow = low;
      for (; weights < end; weights += 2 * PAIR_BYTES) {
        const high01 = v128.load_splat<u32>(weights);
        const low01 = v128.load_splat<u32>(weights, 4);
        const high23 = v128.load_splat<u32>(weights, 8);
        const low23 = v128.load_splat<u32>(weights, 12);
        const rgb = v128.load(at);
        const p01 = pixels01(rgb);
        const p23 = pixels23(rgb);
        high = i32x4.add(high, i32x4.add(i32x4.dot_i16x8_s(p01, high01), i32x4.dot_i16x8_s(p23, high23)));
        low = i32x4.add(low, i32x4.add(i32x4.dot_i16x8_s(p01, low01), i32x4.dot_i16x8_s(p23, low23)));
        const below = v128.load(at + rowBytes);
        const b01 = pixels01(below);
        const b23 = pixels23(below);
        nextHigh = i32x4.add(
          nextHigh,
          i32x4.add(i32x4.dot_i16x8_s(b01, high01), i32x4.dot_i16x8_s(b23, high23)),
        );
        nextLow = i32x4.add(nextLow, i32x4.add(i32x4.dot_i16x8_s(b01, low01), i32x4.dot_i16x8_s(b23, low23)));
        at += 12;
      }
      storePixel(target, high, low);
      storePixel(target + targetBytes, nextHigh, nextLow);
      target += 3;
      entry += entryBytes;
    }
    source += rowBytes * 2;
    target += targetBytes;
  }
}

/**
 * Sums rows of bytes into one, by the weights of `pairs` pairs of rows. Works on 16 bytes at once, so up to 15 behind each
 * row are read, and behind the target written.
 */
export function filterColumns(
  source: usize,
  rowBytes: usize,
  weights: usize,
  pairs: i32,
  target: usize,
): void {
  const end = weights + <usize>pairs * PAIR_BYTES;
  for (let column: usize = 0; column < rowBytes; column += 16) {
    let at = source + column;
    let high0 = i32x4.splat(0);
    let high1 = high0;
    let high2 = high0;
    let high3 = high0;
    let low0 = i32x4.splat(HALF);
    let low1 = low0;
    let low2 = low0;
    let low3 = low0;
    for (let pair = weights; pair < end; pair += PAIR_BYTES) {
      const high = v128.load_splat<u32>(pair);
      const low = v128.load_splat<u32>(pair, 4);
      const row = v128.load(at);
      const next = v128.load(at + rowBytes);
      const left = v128.shuffle<u8>(row, next, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      const right = v128.shuffle<u8>(row, next, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      const a = i16x8.extend_low_i8x16_u(left);
      const b = i16x8.extend_high_i8x16_u(left);
      const c = i16x8.extend_low_i8x16_u(right);
      const d = i16x8.extend_high_i8x16_u(right);
      high0 = i32x4.add(high0, i32x4.dot_i16x8_s(a, high));
      high1 = i32x4.add(high1, i32x4.dot_i16x8_s(b, high));
      high2 = i32x4.add(high2, i32x4.dot_i16x8_s(c, high));
      high3 = i32x4.add(high3, i32x4.dot_i16x8_s(d, high));
      low0 = i32x4.add(low0, i32x4.dot_i16x8_s(a, low));
      low1 = i32x4.add(low1, i32x4.dot_i16x8_s(b, low));
      low2 = i32x4.add(low2, i32x4.dot_i16x8_s(c, low));
      low3 = i32x4.add(low3, i32x4.dot_i16x8_s(d, low));
      at += rowBytes * 2;
    }
    const left = i16x8.narrow_i32x4_s(round(high0, low0), round(high1, low1));
    const right = i16x8.narrow_i32x4_s(round(high2, low2), round(high3, low3));
    v128.store(target + column, i8x16.narrow_i16x8_u(left, right));
  }
}

/** Number of the filter in a PNG file. */
const PAETH: u8 = 4;

/**
 * Applies the Paeth filter of PNG to rows of RGB pixels: each byte becomes its difference from that of the left, upper or
 * upper left pixel, whichever is closest to left + upper - upper left. Every row of the source is followed by a black pixel,
 * and the first is preceded by a row and two pixels of black. Each row of the target begins with the filter's number. Reads
 * and writes up to 15 bytes behind the last row.
 */
export function filterPng(source: usize, rowBytes: usize, rows: i32, target: usize): void {
  const stride = rowBytes + 3;
  for (let row = 0; row < rows; row++) {
    store<u8>(target++, PAETH);
    for (let column: usize = 0; column < rowBytes; column += 16) {
      const at = source + column;
      const left = v128.load(at - 3);
      const upper = v128.load(at - stride);
      const corner = v128.load(at - stride - 3);
      const low = i8x16.min_u(left, upper);
      const high = i8x16.max_u(left, upper);
      // distances of left, upper and corner from left + upper - corner
      const toLeft = difference(upper, corner);
      const toUpper = difference(left, corner);
      // a corner that is not between the others is never closer than both
      const between = v128.and(i8x16.lt_u(low, corner), i8x16.lt_u(corner, high));
      const toCorner = v128.bitselect(difference(toLeft, toUpper), i8x16.add_sat_u(toLeft, toUpper), between);
      const isLeft = v128.and(i8x16.le_u(toLeft, toUpper), i8x16.le_u(toLeft, toCorner));
      const isUpper = i8x16.le_u(toUpper, toCorner);
      const predicted = v128.bitselect(left, v128.bitselect(upper, corner, isUpper), isLeft);
      v128.store(target + column, i8x16.sub(v128.load(at), predicted));
    }
    source += stride;
    target += rowBytes;
  }
}

function difference(one: v128, other: v128): v128 {
  return i8x16.sub(i8x16.max_u(one, other), i8x16.min_u(one, other));
}
