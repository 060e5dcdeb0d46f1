import { corrupt } from './refusal.ts';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const CHUNK_OVERHEAD = 12;

/** Chunks that do not change how a decoder reads the colours (PNG specification, third edition). */
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

interface PngChunks {
  /** Pictures in the file: 1, or the frames of an animated PNG, plus the default picture if it is not one of them. */
  readonly pictures: number;
  /** Whether there are no chunks that can change the colours. */
  readonly harmless: boolean;
}

/** Walks the chunks of a PNG; the decoder checks their checksums. Throws a Refusal for a truncated file. */
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
