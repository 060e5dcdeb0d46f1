import { setMaxListeners } from 'node:events';
import { availableParallelism } from 'node:os';
import { Failure } from '../src/domain/failure.ts';
import { ImageNormalizer } from '../src/normalize/image/image-normalizer.ts';
import { photograph } from './corpus/photograph.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure, ratios } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { peakOfChildren } from './processes/peak-memory.ts';

const ROUNDS = 5;
const MIN_RATIO = 0.85;

const SIZES = [
  { name: '12 MP', width: 4000, height: 3000, images: 12 },
  { name: '2 MP', width: 1632, height: 1224, images: 60 },
] as const;
/** Large images that are queued at the same time. */
const WAITING = { name: '20 of 48 MP', width: 8000, height: 6000, images: 20 } as const;

/** Measures how well decoding and resizing scale with the machine's cores. */
export const images: Bench = {
  name: 'images',
  measures: 'images/s brought into normal form on all cores ÷ (images/s on one core × cores), JPEG',
  async run(context) {
    const { seed, signal } = context;
    // Every queued image adds a listener.
    setMaxListeners(0, signal);
    const cores = availableParallelism();
    const one = new ImageNormalizer({ processes: 1 });
    const all = new ImageNormalizer({ processes: cores });
    try {
      for (const { name, width, height, images: count } of SIZES) {
        const bytes = await photograph(width, height, seed);
        // Warm-up: the start of the processes is not measured.
        await Promise.all([normalize(one, bytes, 1, context), normalize(all, bytes, cores, context)]);
        const rounds = await interleave(context, ROUNDS, {
          one: () => rate(one, bytes, count, context),
          all: () => rate(all, bytes, count * cores, context),
        });
        const efficiency = ratios(rounds.all, rounds.one).map((speedup) => speedup / cores);
        const figures = [
          figure(`${name}, efficiency`, '', efficiency, { atLeast: MIN_RATIO }),
          figure(`${name}, one core`, 'images/s', rounds.one),
        ];
        await context.keep(figures, { [name]: { bytes: bytes.length, rounds } });
      }
    } finally {
      await Promise.all([one.close(), all.close()]);
    }
    const peak = await peakWhileWaiting(context);
    return { figures: [figure(`${WAITING.name}, memory`, 'MiB', [peak / 2 ** 20])], raw: { cores } };
  },
};

async function normalize(
  normalizer: ImageNormalizer,
  bytes: Buffer,
  count: number,
  { signal }: BenchContext,
): Promise<void> {
  const results = await Promise.all(
    Array.from({ length: count }, () => normalizer.image(bytes, { frames: 1, signal })),
  );
  for (const result of results) {
    if ('code' in result) throw new Failure('internal', `an image was not decoded: ${result.message}`);
  }
}

/** Images per second. */
async function rate(
  normalizer: ImageNormalizer,
  bytes: Buffer,
  count: number,
  context: BenchContext,
): Promise<number> {
  const fromMs = performance.now();
  await normalize(normalizer, bytes, count, context);
  return count / ((performance.now() - fromMs) / 1000);
}

/** Peak resident memory of all decoders together, in bytes. */
async function peakWhileWaiting(context: BenchContext): Promise<number> {
  const bytes = await photograph(WAITING.width, WAITING.height, context.seed);
  return peakOfChildren(async () => {
    const normalizer = new ImageNormalizer();
    try {
      await normalize(normalizer, bytes, WAITING.images, context);
    } finally {
      await normalizer.close();
    }
  });
}
