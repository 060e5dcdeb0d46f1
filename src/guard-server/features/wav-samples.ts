import { BYTES_PER_SAMPLE, SAMPLE_RATE, WAV_HEADER_BYTES } from '../../domain/normalization.ts';

const FULL_SCALE = 32_768;

/**
 * The samples of a clip in normal form, in [-1, 1); null for every other clip. Normal form is a WAV file of 16 kHz mono
 * PCM with 16 bits per sample, its samples right after a header of 44 bytes.
 */
export function samplesOfNormalForm(wav: Buffer): Float32Array | null {
  if (wav.length <= WAV_HEADER_BYTES || !hasNormalHeader(wav)) return null;
  const samples = new Float32Array((wav.length - WAV_HEADER_BYTES) / BYTES_PER_SAMPLE);
  for (let index = 0; index < samples.length; index++) {
    samples[index] = wav.readInt16LE(WAV_HEADER_BYTES + index * BYTES_PER_SAMPLE) / FULL_SCALE;
  }
  return samples;
}

/** RIFF/WAVE header (Multimedia Programming Interface and Data Specifications 1.0) with exactly one `fmt ` and `data`. */
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
