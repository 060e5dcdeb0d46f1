import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import sharp from 'sharp';
import { ImageNormalizer } from '../src/normalize/image/image-normalizer.ts';

/**
 * How fast images are brought into normal form, by one process and by one a core, and how much memory that takes while
 * many large ones wait. Run compiled, on a machine that does nothing else: `node dist/bench/images.js [rounds]`.
 * The two kinds of run alternate, so that a change in the machine's mood meets both; medians are printed.
 */

const SIZES = [
  { name: '12 MP JPEG', width: 4000, height: 3000, images: 12 },
  { name: '2 MP JPEG', width: 1632, height: 1224, images: 60 },
] as const;
const WAITING = { width: 8000, height: 6000, images: 20 } as const;
const SAMPLE_MS = 20;

const { signal } = new AbortController();
setMaxListeners(0, signal); // every image that waits listens

/** A picture with the detail of a photograph: slopes, edges, and grain from a fixed seed. */
async function photograph(width: number, height: number): Promise<Buffer> {
  const rgb = Buffer.alloc(width * height * 3);
  let noise = 12_345;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 3) {
      noise = (Math.imul(noise, 1_664_525) + 1_013_904_223) | 0;
      const grain = noise >>> 27;
      const edge = ((x >> 7) ^ (y >> 6)) & 1 ? 40 : 0;
      rgb[at] = (x * 180) / width + grain + edge;
      rgb[at + 1] = (y * 180) / height + grain + edge;
      rgb[at + 2] = ((x + y) * 90) / width + grain;
    }
  }
  return sharp(rgb, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 85 })
    .toBuffer();
}

async function normalizeAll(normalizer: ImageNormalizer, bytes: Buffer, images: number): Promise<void> {
  const results = await Promise.all(
    Array.from({ length: images }, () => normalizer.image(bytes, { frames: 1, signal })),
  );
  for (const result of results) if ('code' in result) throw new Error(result.message);
}

/** Images a second. */
async function rate(normalizer: ImageNormalizer, bytes: Buffer, images: number): Promise<number> {
  const fromMs = performance.now();
  await normalizeAll(normalizer, bytes, images);
  return images / ((performance.now() - fromMs) / 1000);
}

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!;

async function speed(rounds: number): Promise<void> {
  const cores = availableParallelism();
  const one = new ImageNormalizer({ processes: 1 });
  const all = new ImageNormalizer({ processes: cores });
  console.log(`${cpus()[0]?.model ?? 'processor'}, ${cores} cores, ${rounds} rounds`);
  for (const { name, width, height, images } of SIZES) {
    const bytes = await photograph(width, height);
    // starts the processes
    await Promise.all([normalizeAll(one, bytes, 1), normalizeAll(all, bytes, cores)]);
    const rates: { one: number[]; all: number[] } = { one: [], all: [] };
    for (let round = 0; round < rounds; round++) {
      rates.one.push(await rate(one, bytes, images));
      rates.all.push(await rate(all, bytes, images * cores));
    }
    const [single, together] = [median(rates.one), median(rates.all)];
    const efficiency = together / single / cores;
    console.log(
      `${name} (${(bytes.length / 1e6).toFixed(1)} MB): ${single.toFixed(1)} images/s on one core, ` +
        `${together.toFixed(1)} on ${cores}, parallel efficiency ${efficiency.toFixed(2)}`,
    );
  }
  await Promise.all([one.close(), all.close()]);
}

/** Resident memory of processes together, in bytes (Linux). */
function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return sum + Number(kilobytes ?? 0) * 1024;
  }, 0);
}

async function memory(): Promise<void> {
  const children: ChildProcess[] = [];
  subscribe('child_process', (message) => {
    children.push((message as { process: ChildProcess }).process);
  });
  const { width, height, images } = WAITING;
  const bytes = await photograph(width, height);
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(children.map(({ pid }) => pid!)));
  }, SAMPLE_MS);
  const normalizer = new ImageNormalizer();
  await normalizeAll(normalizer, bytes, images);
  clearInterval(timer);
  await normalizer.close();
  console.log(
    `${images} JPEGs of ${(width * height) / 1e6} MP (${(bytes.length / 1e6).toFixed(1)} MB) handed over at once: ` +
      `at most ${Math.round(peak / 1e6)} MB resident in the ${children.length} decoders together`,
  );
}

await speed(Number(process.argv[2] ?? 7));
await memory();
