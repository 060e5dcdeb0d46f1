import type { ImageFile, Pixels } from '../normal-image.ts';
import { checkDecodedPixels, checkFrameMemory, checkFrameSize, corrupt } from '../limits.ts';
import { type Gif, type GifFrame, readGif } from './read-gif.ts';

/**
 * Opens a GIF, which is decoded here because libvips returns black for a transparent pixel, not its stored colour.
 * Throws an ImageRefusal for a broken structure.
 */
export function openGif(bytes: Buffer): ImageFile {
  const gif = readGif(bytes);
  const pixels = gif.width * gif.height;
  return {
    total: gif.frames.length,
    decodable: [...gif.frames.keys()],
    plain: false, // decoders disagree on when a GIF is complete
    async measure(chosen) {
      checkFrameSize(gif.width, gif.height);
      let [decoded, largest] = [0, 0];
      for (let index = 0; index <= (chosen.at(-1) ?? 0); index++) {
        const frame = gif.frames[index]!;
        const { width, height } = frame;
        if (width * height > 0) checkFrameSize(width, height); // a frame without pixels paints nothing
        // the frame's pixels, and the canvas once, for its first fill
        decoded += width * height + (index === 0 ? pixels : 0);
        largest = Math.max(largest, frameMemory(frame));
      }
      checkDecodedPixels(decoded);
      const bytes = pixels * 3 + largest;
      checkFrameMemory(bytes);
      return bytes;
    },
    async *decode(chosen): AsyncGenerator<Pixels, void, void> {
      yield* playGif(bytes, gif, chosen);
    },
  };
}

/** Bytes besides the canvas: one per pixel for the indexes, and three for a copy of the colours to restore. */
function frameMemory({ width, height, disposal }: GifFrame): number {
  return width * height * (disposal === 'restore' ? 4 : 1);
}

/** First row and step of the four passes in which an interlaced frame is stored. */
const PASSES = [
  [0, 8],
  [4, 8],
  [2, 4],
  [1, 2],
] as const;

interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/**
 * Paints the frames over each other, as a viewer does, and yields the canvas after each frame of `wanted` (ascending).
 * All frames share one canvas: a yielded picture is valid until the next one is requested.
 *
 * Transparent pixels of the first frame keep their stored colour, as in every other format. Pixels that it leaves
 * unpainted have the backdrop colour: that of its transparent index, or of index 0. Transparent pixels of later frames
 * show the canvas below, which is the backdrop where an earlier frame was cleared.
 * Throws an ImageRefusal for a frame whose data is broken.
 */
function* playGif(bytes: Buffer, gif: Gif, wanted: readonly number[]): Generator<Pixels, void, void> {
  const { width, height, frames } = gif;
  const canvas = { width, height, rgb: new Uint8Array(width * height * 3) };
  const first = frames[0]!;
  const backdrop = colourOf(first.palette, first.transparent ?? 0);
  fill(canvas, { left: 0, top: 0, width, height }, backdrop);
  const last = wanted.at(-1) ?? -1;
  const buffers = frameBuffers(frames.slice(0, last + 1));
  for (let index = 0; index <= last; index++) {
    const frame = frames[index]!;
    if (frame.disposal === 'restore') keepBelow(canvas, frame, buffers.below);
    const indexes = indexesOf(bytes, frame, buffers.indexes);
    paint(canvas, frame, indexes, index === 0 ? null : frame.transparent);
    if (wanted.includes(index)) yield canvas;
    if (frame.disposal === 'restore') putBack(canvas, frame, buffers.below);
    if (frame.disposal === 'clear') fill(canvas, frame, backdrop);
  }
}

function colourOf(palette: Uint8Array, index: number): Uint8Array {
  return palette.subarray(index * 3, index * 3 + 3);
}

/** Working memory for one frame at a time: its indexes, and the colours to restore after it. */
interface FrameBuffers {
  readonly indexes: Uint8Array;
  readonly below: Uint8Array;
}

/** Large enough for any of the frames. All share one pair: garbage of earlier frames would not be freed in time. */
function frameBuffers(frames: readonly GifFrame[]): FrameBuffers {
  let [pixels, restored] = [0, 0];
  for (const { width, height, disposal } of frames) {
    pixels = Math.max(pixels, width * height);
    if (disposal === 'restore') restored = Math.max(restored, width * height);
  }
  return { indexes: new Uint8Array(pixels), below: new Uint8Array(restored * 3) };
}

function keepBelow(canvas: Canvas, frame: GifFrame, below: Uint8Array): void {
  let at = 0;
  for (const row of rowsBelow(canvas, frame)) {
    below.set(row, at);
    at += row.length;
  }
}

function putBack(canvas: Canvas, frame: GifFrame, below: Uint8Array): void {
  let at = 0;
  for (const row of rowsBelow(canvas, frame)) {
    row.set(below.subarray(at, at + row.length));
    at += row.length;
  }
}

function indexesOf(bytes: Buffer, frame: GifFrame, buffer: Uint8Array): Uint8Array {
  const indexes = buffer.subarray(0, frame.width * frame.height);
  // pixels missing from the data are transparent, or index 0
  indexes.fill(frame.transparent ?? 0);
  if (indexes.length > 0 && !decodeLzw(bytes, frame.dataAt, frame.minCodeSize, indexes)) throw corrupt();
  return indexes;
}

function paint(canvas: Canvas, frame: GifFrame, indexes: Uint8Array, transparent: number | null): void {
  const { rgb } = canvas;
  const { palette } = frame;
  const columns = Math.min(frame.width, canvas.width - frame.left);
  const rows = frame.interlaced ? interlacedRows(frame.height) : null;
  for (let stored = 0; stored < frame.height; stored++) {
    const row = frame.top + (rows?.[stored] ?? stored);
    if (row >= canvas.height) continue;
    let from = stored * frame.width;
    let to = (row * canvas.width + frame.left) * 3;
    for (const end = from + columns; from < end; from++, to += 3) {
      const index = indexes[from]!;
      if (index === transparent) continue;
      rgb[to] = palette[index * 3]!;
      rgb[to + 1] = palette[index * 3 + 1]!;
      rgb[to + 2] = palette[index * 3 + 2]!;
    }
  }
}

/** The frame's row for each stored row. */
function interlacedRows(height: number): number[] {
  return PASSES.flatMap(([first, step]) => {
    const rows: number[] = [];
    for (let row = first; row < height; row += step) rows.push(row);
    return rows;
  });
}

interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The part of each row of the canvas that lies in the rectangle; views, not copies. */
function* rowsBelow(
  canvas: Canvas,
  { left, top, width, height }: Rectangle,
): Generator<Uint8Array, void, void> {
  const right = Math.min(left + width, canvas.width);
  const bottom = Math.min(top + height, canvas.height);
  for (let row = top; row < bottom && left < right; row++) {
    const start = row * canvas.width;
    yield canvas.rgb.subarray((start + left) * 3, (start + right) * 3);
  }
}

function fill(canvas: Canvas, rectangle: Rectangle, colour: Uint8Array): void {
  for (const row of rowsBelow(canvas, rectangle)) {
    for (let at = 0; at < row.length; at += 3) row.set(colour, at);
  }
}

/** Codes have at most twelve bits. */
const MAX_CODES = 4096;
const MAX_CODE_BITS = 12;

/**
 * Decodes the LZW data of one GIF frame (GIF89a, appendix F) into `indexes`, one palette index per byte. The data starts
 * at `at`, in blocks that each start with their length. Returns whether the data is valid: it fills `indexes`, or ends
 * early with an end code (the rest of `indexes` is unchanged). Data after that is ignored.
 */
export function decodeLzw(bytes: Uint8Array, at: number, minCodeSize: number, indexes: Uint8Array): boolean {
  const clear = 1 << minCodeSize;
  const end = clear + 1;
  // a code means the string of its prefix code plus one index
  const prefix = new Uint16Array(MAX_CODES);
  const last = new Uint8Array(MAX_CODES);
  const first = new Uint8Array(MAX_CODES);
  const length = new Uint32Array(MAX_CODES);
  for (let code = 0; code < clear; code++) {
    last[code] = first[code] = code;
    length[code] = 1;
  }
  let next = end + 1;
  let codeBits = minCodeSize + 1;
  let previous = -1;
  let filled = 0;
  let buffered = 0;
  let bufferedBits = 0;

  for (let blockEnd = at; ;) {
    while (bufferedBits < codeBits) {
      if (at === blockEnd) {
        const size = bytes[at] ?? 0;
        if (size === 0) return false;
        at++;
        blockEnd = Math.min(at + size, bytes.length);
        if (at === blockEnd) return false;
      }
      buffered |= bytes[at++]! << bufferedBits;
      bufferedBits += 8;
    }
    const code = buffered & ((1 << codeBits) - 1);
    buffered >>>= codeBits;
    bufferedBits -= codeBits;

    if (code === clear) {
      next = end + 1;
      codeBits = minCodeSize + 1;
      previous = -1;
      continue;
    }
    if (code === end) return true;
    // data may use the code that this step adds (`next`); any higher code is invalid
    if (previous < 0 ? code >= clear : code > next) return false;
    if (previous >= 0 && next < MAX_CODES) {
      prefix[next] = previous;
      first[next] = first[previous]!;
      last[next] = first[code === next ? previous : code]!;
      length[next] = length[previous]! + 1;
      next++;
      if (next === 1 << codeBits && codeBits < MAX_CODE_BITS) codeBits++;
    }
    let symbol = code;
    for (let position = filled + length[code]! - 1; position >= filled; position--) {
      indexes[position] = last[symbol]!; // no effect past the end
      symbol = prefix[symbol]!;
    }
    filled += length[code]!;
    if (filled >= indexes.length) return true;
    previous = code;
  }
}
