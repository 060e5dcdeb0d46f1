/**
 * Loaded before the program of a measured process (`node --import`): as that ends, writes what it took to the file
 * that BENCH_USAGE names. Times are of all threads; the system's figure for memory is the highest there was.
 */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { Usage } from './usage.ts';

const path = process.env['BENCH_USAGE'];

if (isMainThread && path !== undefined) {
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const usage: Usage = { cpuUs: userCPUTime + systemCPUTime, maxRssKib: maxRSS };
    writeFileSync(path, JSON.stringify(usage));
  });
}
