/** One triangular filter over the bins of a power spectrum. */
export interface MelFilter {
  readonly firstBin: number;
  /** Weights of consecutive bins. */
  readonly weights: Float64Array;
}

/** Slaney's mel scale (Auditory Toolbox, 1998): linear up to 1000 Hz, 15 mel; logarithmic above. */
const LINEAR_HZ_PER_MEL = 200 / 3;
const BREAK_HZ = 1000;
const BREAK_MEL = BREAK_HZ / LINEAR_HZ_PER_MEL;
const LOG_STEP = Math.log(6.4) / 27;

function melOf(hz: number): number {
  return hz < BREAK_HZ ? hz / LINEAR_HZ_PER_MEL : BREAK_MEL + Math.log(hz / BREAK_HZ) / LOG_STEP;
}

function hzOf(mel: number): number {
  return mel < BREAK_MEL ? mel * LINEAR_HZ_PER_MEL : BREAK_HZ * Math.exp(LOG_STEP * (mel - BREAK_MEL));
}

/**
 * Makes `count` filters from 0 Hz to half the sample rate, each of unit area (Slaney's normalization), for the power
 * spectrum of windows of `windowSize` samples.
 */
export function melFilters(count: number, windowSize: number, sampleRate: number): MelFilter[] {
  const top = melOf(sampleRate / 2);
  const edges = Array.from({ length: count + 2 }, (_, index) => hzOf((top * index) / (count + 1)));
  const hzPerBin = sampleRate / windowSize;
  const bins = Math.floor(windowSize / 2) + 1;
  return Array.from({ length: count }, (_, index) => {
    const [low, centre, high] = edges.slice(index, index + 3) as [number, number, number];
    const firstBin = Math.max(0, Math.ceil(low / hzPerBin));
    const lastBin = Math.min(bins - 1, Math.floor(high / hzPerBin));
    const weights = Float64Array.from({ length: Math.max(0, lastBin - firstBin + 1) }, (_, offset) => {
      const hz = (firstBin + offset) * hzPerBin;
      const height = Math.min((hz - low) / (centre - low), (high - hz) / (high - centre));
      return (Math.max(0, height) * 2) / (high - low);
    });
    return { firstBin, weights };
  });
}
