import { corrupt } from './refusal.ts';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const CHUNK_OVERHEAD = 12;

/** Chunks that no reader makes other colours of (PNG specification, third edition). */
const HARMLESS = new Set([
  'IHDR',
  'PLTE',
  'IDAT',
  'IEND',
  'sRGB',
  'pHYs',
  'bKGD',
  'hIST',
  'tIME',
  'tEXt',
  'zTXt',
  'iTXt',
]);

export interface PngChunks {
  /** Pictures in the file: 1, or for an animated PNG its frames and the default picture, where that is not one of them. */
  readonly pictures: number;
  /** Whether there are only chunks that leave the colours alone. */
  readonly harmless: boolean;
}

/** Walks the chunks of a PNG up to its end; their checksums are the decoder's affair. Throws a Refusal for a cut one. */
export function readPngChunks(bytes: Buffer): PngChunks {
  let frames = 0;
  let isDefaultAFrame = false;
  let sawData = false;
  let harmless = true;
  for (let at = SIGNATURE_BYTES; ;) {
    if (at + CHUNK_OVERHEAD > bytes.length) throw corrupt();
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const dataAt = at + 8;
    at += CHUNK_OVERHEAD + length;
    if (at > bytes.length) throw corrupt();
    if (type === 'acTL' && length >= 4) frames = bytes.readUInt32BE(dataAt);
    if (type === 'fcTL' && !sawData) isDefaultAFrame = true;
    if (type === 'IDAT') sawData = true;
    if (!HARMLESS.has(type)) harmless = false;
    if (type === 'IEND') break;
  }
  return { pictures: Math.max(1, frames + (isDefaultAFrame ? 0 : 1)), harmless };
}
