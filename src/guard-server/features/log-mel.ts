import { setImmediate } from 'node:timers/promises';
import { SAMPLE_RATE } from '../../domain/normalization.ts';
import { FourierTransform } from './fourier.ts';
import { melFilters } from './mel-filters.ts';

/** Bins, window and hop of the guard's contract. */
export const MEL_BINS = 128;
const WINDOW_SAMPLES = (SAMPLE_RATE * 25) / 1000;
const HOP_SAMPLES = (SAMPLE_RATE * 10) / 1000;

/** Length of the input in the contract: shorter clips are padded with silence, longer ones are truncated. */
const CLIP_SAMPLES = 300 * SAMPLE_RATE;
export const FRAMES = CLIP_SAMPLES / HOP_SAMPLES;

/** Frames computed per turn of the event loop: a few milliseconds. */
const FRAMES_PER_TURN = 256;

/** The contract does not define log-mel; these are the constants of Whisper's feature extractor. */
const MIN_POWER = 1e-10;
/** Dynamic range kept below the loudest value, in powers of ten. */
const RANGE = 8;
const OFFSET = 4;
const SCALE = 4;

const FILTERS = melFilters(MEL_BINS, WINDOW_SAMPLES, SAMPLE_RATE);

/** Periodic Hann window. */
const HANN = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / WINDOW_SAMPLES),
);

/**
 * The log-mel spectrogram of an audio clip, FRAMES x MEL_BINS values, frame by frame. `samples` are 16 kHz mono in [-1,
 * 1). Frames are centred on multiples of the hop, with the clip reflected at both ends of its 300 s. There is no
 * dithering, so equal samples give equal features. Rejects with the reason of an abort.
 */
export async function logMel(samples: Float32Array, signal: AbortSignal): Promise<Float32Array> {
  const features = new Float32Array(FRAMES * MEL_BINS).fill(Math.log10(MIN_POWER));
  const length = Math.min(samples.length, CLIP_SAMPLES);
  // Later frames contain only silence.
  const frames = Math.min(FRAMES, Math.ceil((length + WINDOW_SAMPLES / 2) / HOP_SAMPLES));
  const transform = new FourierTransform(WINDOW_SAMPLES);
  for (let frame = 0; frame < frames; frame += 2) {
    if (frame % FRAMES_PER_TURN === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
    twoFrames(samples, length, frame, transform, features);
  }
  let loudest = -Infinity;
  for (const value of features) if (value > loudest) loudest = value;
  for (let index = 0; index < features.length; index++) {
    features[index] = (Math.max(features[index]!, loudest - RANGE) + OFFSET) / SCALE;
  }
  return features;
}

/** Writes log10 of the mel powers of a frame and the next one. One complex transform computes both real ones. */
function twoFrames(
  samples: Float32Array,
  length: number,
  frame: number,
  transform: FourierTransform,
  features: Float32Array,
): void {
  const first = frame * HOP_SAMPLES - WINDOW_SAMPLES / 2;
  const { real: even, imaginary: odd } = transform;
  for (let index = 0; index < WINDOW_SAMPLES; index++) {
    const weight = HANN[index]!;
    even[index] = weight * sampleAt(samples, length, first + index);
    odd[index] = weight * sampleAt(samples, length, first + HOP_SAMPLES + index);
  }
  transform.run();
  const { real, imaginary } = transform;
  const powers: [Float64Array, Float64Array] = [
    new Float64Array(WINDOW_SAMPLES / 2 + 1),
    new Float64Array(WINDOW_SAMPLES / 2 + 1),
  ];
  for (let bin = 0; bin <= WINDOW_SAMPLES / 2; bin++) {
    const mirror = (WINDOW_SAMPLES - bin) % WINDOW_SAMPLES;
    const [a, b, c, d] = [real[bin]!, imaginary[bin]!, real[mirror]!, imaginary[mirror]!];
    powers[0][bin] = ((a + c) ** 2 + (b - d) ** 2) / 4;
    powers[1][bin] = ((b + d) ** 2 + (c - a) ** 2) / 4;
  }
  writeMel(powers[0], features, frame);
  if (frame + 1 < FRAMES) writeMel(powers[1], features, frame + 1);
}

function sampleAt(samples: Float32Array, length: number, position: number): number {
  const reflected =
    position < 0 ? -position : position < CLIP_SAMPLES ? position : 2 * (CLIP_SAMPLES - 1) - position;
  return reflected < length ? samples[reflected]! : 0;
}

function writeMel(power: Float64Array, features: Float32Array, frame: number): void {
  for (let mel = 0; mel < MEL_BINS; mel++) {
    const { firstBin, weights } = FILTERS[mel]!;
    let sum = 0;
    for (let offset = 0; offset < weights.length; offset++)
      sum += weights[offset]! * power[firstBin + offset]!;
    features[frame * MEL_BINS + mel] = Math.log10(Math.max(sum, MIN_POWER));
  }
}
