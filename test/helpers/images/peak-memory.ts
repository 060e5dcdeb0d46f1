import { readFileSync } from 'node:fs';

/** The most that a process, still running, has had resident so far, in bytes (Linux). */
export function peakMemory(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}
