import type { FileHandle } from 'node:fs/promises';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES } from '../../domain/normalization.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { EmbeddedMediaRequest } from '../../domain/request.ts';
import { openUnnamedFileWith } from '../../files/unnamed-file.ts';
import type { WantedPicture } from '../../normalize/image/normalize-image.ts';
import type { Normalizer } from '../../normalize/normalizer.ts';

/** How an image is shown: whole, as a thumbnail, or as a thumbnail blurred to areas of light and colour. */
export type Look = 'whole' | 'thumbnail' | 'blurred';

/**
 * Longest edges in pixels. With 16, the features of a portrait can still be guessed when it is enlarged; with 12 they
 * cannot.
 */
const SIZES = {
  whole: { maxEdge: 1600 },
  thumbnail: { maxEdge: 320 },
  blurred: { maxEdge: 12, minShrink: 8 },
} as const satisfies Record<Look, Omit<WantedPicture, 'frame'>>;

const MAX_PEAKS = 600;

/** An image or audio for a browser: our own encoding of the decoded data, never the original bytes. */
export type DecodedMedia =
  | { readonly type: 'image/png'; readonly bytes: Buffer; readonly width: number; readonly height: number }
  | {
      readonly type: 'audio/wav';
      readonly bytes: Buffer;
      readonly seconds: number;
      readonly clipSeconds: number;
      readonly peaks: readonly number[];
    };

interface Decoding {
  readonly normalizer: Normalizer;
  readonly signal: AbortSignal;
}

type Where = Pick<OutcomeLine, 'coverage'>;

/** Decodes the frame that decided, or returns an ItemError with the reason why it cannot. */
export async function decodedImage(
  bytes: Buffer,
  { coverage }: Where,
  look: Look,
  { normalizer, signal }: Decoding,
): Promise<DecodedMedia | ItemError> {
  const frame = coverage?.unit === 'frames' ? (coverage.worst_at ?? 0) : 0;
  const picture = await normalizer.picture(bytes, { frame, ...SIZES[look] }, signal);
  if ('code' in picture) return picture;
  const { png, width, height } = picture;
  return { type: 'image/png', bytes: png, width, height };
}

/** Thrown to stop decoding once the wanted window is decoded. */
class Enough extends Error {}

/**
 * Decodes the window of a clip that decided, at most 300 s, as the guard heard it. Returns an ItemError if it cannot.
 */
export async function decodedAudio(
  file: FileHandle,
  { coverage }: Where,
  { normalizer, signal }: Decoding,
): Promise<DecodedMedia | ItemError> {
  const at = coverage?.unit === 'seconds' ? (coverage.worst_at ?? 0) : 0;
  const found: Buffer[] = [];
  try {
    const heard = await normalizer.audio(file, {
      long: 'windows',
      signal,
      each: async ({ startSeconds, seconds, wav }) => {
        if (startSeconds + seconds <= at) return;
        found.push(wav);
        throw new Enough();
      },
    });
    if ('code' in heard) return heard;
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  const [wav] = found;
  if (wav === undefined) return itemError('CORRUPT_MEDIA', 'the clip is shorter than when it was judged');
  const seconds = (wav.length - WAV_HEADER_BYTES) / BYTES_PER_SAMPLE / SAMPLE_RATE;
  const clipSeconds = coverage?.unit === 'seconds' ? coverage.total : seconds;
  return { type: 'audio/wav', bytes: wav, seconds, clipSeconds, peaks: peaksOf(wav) };
}

/** Decodes an image or a clip that is inside a record or another file. */
export async function decodedEmbedded(
  { modality, embedded }: EmbeddedMediaRequest,
  line: Where,
  look: Look,
  decoding: Decoding,
): Promise<DecodedMedia | ItemError> {
  if (modality === 'image') return decodedImage(embedded, line, look, decoding);
  const file = await openUnnamedFileWith(embedded);
  try {
    return await decodedAudio(file, line, decoding);
  } finally {
    await file.close();
  }
}

/** Loudest samples in equal parts of a normalized WAV file, 0 … 1. */
function peaksOf(wav: Buffer): number[] {
  const samples = new DataView(wav.buffer, wav.byteOffset + WAV_HEADER_BYTES, wav.length - WAV_HEADER_BYTES);
  const count = samples.byteLength / BYTES_PER_SAMPLE;
  const peaks = new Array<number>(Math.min(MAX_PEAKS, count)).fill(0);
  for (let index = 0; index < count; index++) {
    const piece = Math.floor((index * peaks.length) / count);
    const loud = Math.abs(samples.getInt16(index * BYTES_PER_SAMPLE, true)) / 32_768;
    if (loud > peaks[piece]!) peaks[piece] = loud;
  }
  return peaks.map((peak) => Math.round(peak * 1000) / 1000);
}
