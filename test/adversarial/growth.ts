import { expect } from 'vitest';

/** Sizes of the inputs, small ones first: work that grows exponentially is found before it takes for ever. */
const SIZES: readonly number[] = [16, 24, 32, 40, 64, 256, 1024, 4096, 16_384, 65_536];
/** For work that takes long whatever its input, such as reading a file. */
export const FEW_SIZES: readonly number[] = [64, 2048, 32_768];
/** Generous: from one size to one four times as large, linear work takes four times as long, quadratic sixteen times. */
const MAX_RATIO = 9;
/** Work that takes no longer is not measured again: what is quadratic takes seconds for the largest input. */
const NOISE_MS = 60;
const ATTEMPTS = 3;

/** An input of about the given size. */
export type Sized<T> = (size: number) => T;

/**
 * Expects that the processor time of work grows with its input, not with the square of it or worse. Time of the
 * processor rather than of the clock: what else the machine does is left out.
 */
export async function expectLinearGrowth<T>(
  inputOf: Sized<T>,
  work: (input: T) => unknown,
  label: string,
  sizes = SIZES,
): Promise<void> {
  let [smaller, before] = [sizes[0]!, 0];
  for (const size of sizes) {
    const ms = await measured(inputOf(size), work);
    // Only what takes longer than before for the larger input can be quadratic.
    if (ms - before > NOISE_MS) {
      const bound = (MAX_RATIO / 4) * (size / smaller) * (await fastest(inputOf(smaller), work)) + NOISE_MS;
      // What took that long may have had to collect garbage; what is far beyond the bound is no accident.
      const best = ms > 4 * bound ? ms : Math.min(ms, await fastest(inputOf(size), work));
      expect(best, `${label}: milliseconds for ${size}`).toBeLessThan(bound);
    }
    [smaller, before] = [size, ms];
  }
}

async function fastest<T>(input: T, work: (input: T) => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) least = Math.min(least, await measured(input, work));
  return least;
}

async function measured<T>(input: T, work: (input: T) => unknown): Promise<number> {
  const begun = process.cpuUsage();
  try {
    await work(input);
  } catch {
    // A parser may refuse what it is given; it has to do so in linear time, too.
  }
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}
