import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES } from '../../domain/normalization.ts';
import { AudioNormalizer } from '../../normalize/audio/audio-normalizer.ts';
import { ImageNormalizer } from '../../normalize/image/image-normalizer.ts';
import type { Pixels } from '../../normalize/image/normal-image.ts';
import { logMel } from './log-mel.ts';

/**
 * Extracts a model's input from an image or an audio clip, as the contract defines it: identical content has identical
 * features, whether it comes as the original file or in normalized format. Media are untrusted, so each is decoded in
 * another process, one image and one clip at a time; only clips in normalized format, which need no decoder, are read
 * here.
 */
export class MediaFeatures {
  readonly #images = new ImageNormalizer({ processes: 1 });
  readonly #clips = new AudioNormalizer({ decoders: 1 });
  readonly #closing = new AbortController();

  /** RGB of the first frame, its longest edge at most 512 pixels; null if the image cannot be decoded. */
  async image(bytes: Buffer): Promise<Pixels | null> {
    const pixels = await this.#images.pixels(bytes, this.#closing.signal);
    return 'code' in pixels ? null : pixels;
  }

  /** The log-mel spectrogram of 300 s (see `logMel`); null if the clip cannot be decoded. */
  async audio(bytes: Buffer): Promise<Float32Array | null> {
    const samples = samplesOfNormalForm(bytes) ?? (await this.#decode(bytes));
    return samples === null ? null : logMel(samples, this.#closing.signal);
  }

  /** Ends all decoders; media in progress reject. May be called more than once. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the extraction of features was closed'));
    await Promise.all([this.#images.close(), this.#clips.close()]);
  }

  /** Decodes an audio clip. ffmpeg seeks, so it needs a file. */
  async #decode(bytes: Buffer): Promise<Float32Array | null> {
    const file = await unnamedFile(bytes);
    let samples: Float32Array | null = null;
    try {
      const end = await this.#clips.audio(file, {
        long: 'truncate',
        signal: this.#closing.signal,
        each: async ({ wav }) => {
          samples = samplesOfNormalForm(wav);
        },
      });
      return 'code' in end ? null : samples;
    } finally {
      await file.close();
    }
  }
}

/** Creates a temporary file without a name. The system frees it once it is closed, even after a crash. */
async function unnamedFile(bytes: Buffer): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'guardsweep-clip-'));
  try {
    const file = await open(join(folder, 'clip'), 'wx+', 0o600);
    try {
      await file.writeFile(bytes);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const FULL_SCALE = 32_768;

/**
 * The samples of a clip in normalized format, in [-1, 1); null for every other clip. The format is a WAV file of 16 kHz
 * mono PCM with 16 bits per sample, with the samples right after a header of 44 bytes.
 */
function samplesOfNormalForm(wav: Buffer): Float32Array | null {
  if (wav.length <= WAV_HEADER_BYTES || !hasNormalHeader(wav)) return null;
  const samples = new Float32Array((wav.length - WAV_HEADER_BYTES) / BYTES_PER_SAMPLE);
  for (let index = 0; index < samples.length; index++) {
    samples[index] = wav.readInt16LE(WAV_HEADER_BYTES + index * BYTES_PER_SAMPLE) / FULL_SCALE;
  }
  return samples;
}

/**
 * RIFF/WAVE header (Multimedia Programming Interface and Data Specifications 1.0) with exactly one `fmt ` and `data`.
 */
function hasNormalHeader(wav: Buffer): boolean {
  return (
    wav.toString('latin1', 0, 4) === 'RIFF' &&
    wav.toString('latin1', 8, 16) === 'WAVEfmt ' &&
    wav.readUInt32LE(16) === 16 &&
    wav.readUInt16LE(20) === 1 &&
    wav.readUInt16LE(22) === 1 &&
    wav.readUInt32LE(24) === SAMPLE_RATE &&
    wav.readUInt16LE(34) === BYTES_PER_SAMPLE * 8 &&
    wav.toString('latin1', 36, 40) === 'data' &&
    wav.readUInt32LE(40) === wav.length - WAV_HEADER_BYTES &&
    wav.length % BYTES_PER_SAMPLE === 0
  );
}
