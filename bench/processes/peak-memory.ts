import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { residentBytes } from './resident-bytes.ts';

const SAMPLE_MS = 20;
/** Diagnostics channel that publishes every child process (Node 20.16). */
const CHANNEL = 'child_process';

/** Peak resident memory of all child processes that `work` starts, in bytes (Linux). */
export async function peakOfChildren(work: () => Promise<void>): Promise<number> {
  const children: ChildProcess[] = [];
  const started = (message: unknown): void => {
    children.push((message as { readonly process: ChildProcess }).process);
  };
  let peak = 0;
  const sample = (): void => {
    const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    peak = Math.max(
      peak,
      running.reduce((sum, { pid }) => sum + residentBytes(pid!), 0),
    );
  };
  subscribe(CHANNEL, started);
  const timer = setInterval(sample, SAMPLE_MS);
  try {
    await work();
    return peak;
  } finally {
    clearInterval(timer);
    unsubscribe(CHANNEL, started);
  }
}
