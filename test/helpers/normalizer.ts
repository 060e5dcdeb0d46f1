import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ChildProcess } from 'node:child_process';
import { onTestFinished } from 'vitest';
import type * as Built from '../../src/normalize/image/image-normalizer.ts';

/** Decoders are processes, which run compiled code only, so this is tested as it is built. */
const built = new URL('../../dist/src/normalize/image/image-normalizer.js', import.meta.url).href;
const { ImageNormalizer } = (await import(/* @vite-ignore */ built)) as typeof Built;

export { ImageNormalizer };

/** A normalizer that is closed when the test is over. */
export function imageNormalizer(options?: Built.ImageNormalizerOptions): Built.ImageNormalizer {
  const normalizer = new ImageNormalizer(options);
  onTestFinished(() => normalizer.close());
  return normalizer;
}

export interface StartedProcesses {
  readonly all: readonly ChildProcess[];
  readonly first: Promise<ChildProcess>;
}

/** The processes that are started from now on, until the test is over. */
export function startedProcesses(): StartedProcesses {
  const all: ChildProcess[] = [];
  const first = new Promise<ChildProcess>((resolve) => {
    const seen = (message: unknown): void => {
      const started = (message as { process: ChildProcess }).process;
      all.push(started);
      resolve(started);
    };
    subscribe('child_process', seen);
    onTestFinished(() => void unsubscribe('child_process', seen));
  });
  return { all, first };
}
