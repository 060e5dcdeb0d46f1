import type { Pixels } from '../normal-image.ts';
import { corrupt } from '../refusal.ts';
import { decodeLzw } from './lzw.ts';
import type { Gif, GifFrame } from './read-gif.ts';

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
 * Paints the frames one over another, as a viewer does, and gives the canvas out at each of `wanted` (ascending). It
 * is one canvas throughout: what is given out holds until the next is asked for.
 *
 * The first frame keeps the stored colour of its transparent pixels, as every other format does; what it leaves
 * unpainted has the colour of its transparent index, else of index 0. In later frames a transparent pixel shows what
 * lies below, and so does, again in that colour, what an earlier frame had cleared.
 * Throws a Refusal for a frame whose data is broken.
 */
export function* playGif(bytes: Buffer, gif: Gif, wanted: readonly number[]): Generator<Pixels, void, void> {
  const { width, height, frames } = gif;
  const canvas = { width, height, rgb: new Uint8Array(width * height * 3) };
  const first = frames[0]!;
  const backdrop = colourOf(first.palette, first.transparent ?? 0);
  fill(canvas, { left: 0, top: 0, width, height }, backdrop);
  const last = wanted.at(-1) ?? -1;
  for (let index = 0; index <= last; index++) {
    const frame = frames[index]!;
    const below = frame.disposal === 'restore' ? rowsBelow(canvas, frame).map((row) => row.slice()) : null;
    paint(canvas, frame, indexesOf(bytes, frame), index === 0 ? null : frame.transparent);
    if (wanted.includes(index)) yield canvas;
    if (below !== null) rowsBelow(canvas, frame).forEach((row, position) => row.set(below[position]!));
    if (frame.disposal === 'clear') fill(canvas, frame, backdrop);
  }
}

function colourOf(palette: Uint8Array, index: number): Uint8Array {
  return palette.subarray(index * 3, index * 3 + 3);
}

function indexesOf(bytes: Buffer, frame: GifFrame): Uint8Array {
  // pixels that the data leaves out are transparent, else of index 0
  const indexes = new Uint8Array(frame.width * frame.height).fill(frame.transparent ?? 0);
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

/** In which row of the frame each of its stored rows belongs. */
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
function rowsBelow(canvas: Canvas, { left, top, width, height }: Rectangle): Uint8Array[] {
  const right = Math.min(left + width, canvas.width);
  const bottom = Math.min(top + height, canvas.height);
  const rows: Uint8Array[] = [];
  for (let row = top; row < bottom && left < right; row++) {
    const start = row * canvas.width;
    rows.push(canvas.rgb.subarray((start + left) * 3, (start + right) * 3));
  }
  return rows;
}

function fill(canvas: Canvas, rectangle: Rectangle, colour: Uint8Array): void {
  for (const row of rowsBelow(canvas, rectangle)) {
    for (let at = 0; at < row.length; at += 3) row.set(colour, at);
  }
}
