/**
 * Preloaded into a measured process (`node --import`): on exit writes its resource usage to the file BENCH_USAGE. Times
 * cover all threads; the peak memory is the system's, so no peak is missed.
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
