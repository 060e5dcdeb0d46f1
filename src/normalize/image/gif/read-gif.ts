import { checkFrameCount, corrupt } from '../limits.ts';

/** What happens to a frame's rectangle before the next frame is painted. */
type Disposal = 'keep' | 'clear' | 'restore';

export interface GifFrame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly interlaced: boolean;
  /** 256 colours of three bytes. */
  readonly palette: Uint8Array;
  /** Palette index of transparent pixels; null if there is none. */
  readonly transparent: number | null;
  readonly disposal: Disposal;
  readonly minCodeSize: number;
  /** Offset of the compressed indexes. */
  readonly dataAt: number;
}

export interface Gif {
  readonly width: number;
  readonly height: number;
  readonly frames: readonly GifFrame[];
}

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const PADDING = 0x00;
const GRAPHIC_CONTROL = 0xf9;
const PALETTE_BYTES = 256 * 3;
/** Indexes are bytes. */
const MAX_CODE_SIZE = 8;

interface GraphicControl {
  readonly transparent: number | null;
  readonly disposal: Disposal;
}

const NO_CONTROL: GraphicControl = { transparent: null, disposal: 'keep' };

/**
 * Reads the structure of a GIF file (GIF89a specification) without decoding pixels. A missing trailer is accepted.
 * Throws an ImageRefusal for a file that is truncated within a block, has unknown blocks, or has no frame.
 */
export function readGif(bytes: Buffer): Gif {
  return new GifReader(bytes).read();
}

class GifReader {
  readonly #bytes: Buffer;
  #at = 6; // after the signature
  #control = NO_CONTROL;
  readonly #frames: GifFrame[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  read(): Gif {
    const screenWidth = this.#word();
    const screenHeight = this.#word();
    const flags = this.#byte();
    this.#skip(2);
    const palette = this.#palette(flags) ?? greys();
    while (this.#at < this.#bytes.length) {
      const block = this.#byte();
      if (block === TRAILER) break;
      if (block === EXTENSION) this.#extension();
      else if (block === IMAGE) this.#image(palette);
      else if (block !== PADDING) throw corrupt();
    }
    const [first] = this.#frames;
    if (first === undefined) throw corrupt();
    // as in viewers: the screen grows to fit the first frame, later frames are clipped
    return {
      width: Math.max(screenWidth, first.left + first.width),
      height: Math.max(screenHeight, first.top + first.height),
      frames: this.#frames,
    };
  }

  #extension(): void {
    const label = this.#byte();
    const size = this.#bytes[this.#at] ?? 0;
    if (label === GRAPHIC_CONTROL && size >= 4) {
      const flags = this.#bytes[this.#at + 1] ?? 0;
      const method = (flags >> 2) & 7;
      this.#control = {
        transparent: (flags & 1) === 1 ? (this.#bytes[this.#at + 4] ?? null) : null,
        disposal: method === 2 ? 'clear' : method === 3 ? 'restore' : 'keep',
      };
    }
    this.#skipBlocks();
  }

  #image(globalPalette: Uint8Array): void {
    const [left, top, width, height] = [this.#word(), this.#word(), this.#word(), this.#word()];
    const flags = this.#byte();
    const palette = this.#palette(flags) ?? globalPalette;
    const minCodeSize = this.#byte();
    if (minCodeSize < 1 || minCodeSize > MAX_CODE_SIZE) throw corrupt();
    const interlaced = (flags & 0x40) !== 0;
    const dataAt = this.#at;
    this.#frames.push({
      left,
      top,
      width,
      height,
      interlaced,
      palette,
      minCodeSize,
      dataAt,
      ...this.#control,
    });
    this.#control = NO_CONTROL;
    checkFrameCount(this.#frames.length);
    this.#skipBlocks();
  }

  /** The colour table announced by `flags`, null if there is none. Missing colours are the grey of their index. */
  #palette(flags: number): Uint8Array | null {
    if ((flags & 0x80) === 0) return null;
    const from = this.#at;
    this.#skip(3 * 2 ** ((flags & 7) + 1));
    const palette = greys();
    palette.set(this.#bytes.subarray(from, this.#at));
    return palette;
  }

  #skipBlocks(): void {
    for (let size = this.#byte(); size > 0; size = this.#byte()) this.#skip(size);
  }

  #skip(count: number): void {
    this.#at += count;
    if (this.#at > this.#bytes.length) throw corrupt();
  }

  #byte(): number {
    this.#skip(1);
    return this.#bytes[this.#at - 1]!;
  }

  #word(): number {
    this.#skip(2);
    return this.#bytes.readUInt16LE(this.#at - 2);
  }
}

/** The palette of a file without a colour table: 256 levels of grey. */
function greys(): Uint8Array {
  const palette = new Uint8Array(PALETTE_BYTES);
  for (let at = 0; at < PALETTE_BYTES; at++) palette[at] = Math.floor(at / 3);
  return palette;
}
