/**
 * Loaded before the program of a measured process (`node --import`): as that ends, writes what it took to the file
 * that BENCH_USAGE names. Times are of all threads; the highest memory is the system's figure, which misses nothing.
 */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { Usage } from './usage.ts';

const LOOK_EVERY_MS = 200;

const path = process.env['BENCH_USAGE'];

if (isMainThread && path !== undefined) {
  let looks = 0;
  let sumRssBytes = 0;
  const look = (): void => {
    looks++;
    sumRssBytes += process.memoryUsage.rss();
  };
  setInterval(look, LOOK_EVERY_MS).unref();
  process.on('exit', () => {
    look();
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const usage: Usage = {
      cpuUs: userCPUTime + systemCPUTime,
      maxRssKib: maxRSS,
      meanRssKib: sumRssBytes / looks / 1024,
    };
    writeFileSync(path, JSON.stringify(usage));
  });
}
