import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ChildProcess } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { ImageNormalizer, type ImageNormalizerOptions } from '../../src/normalize/image/image-normalizer.ts';
import { settled } from './settled.ts';

/** A normalizer that is closed when the test is over. */
export function imageNormalizer(options?: ImageNormalizerOptions): ImageNormalizer {
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

/** Ends the decoder that was started as the `turn`th, once it has its image. */
export async function endDecoder(
  { all }: StartedProcesses,
  turn: number,
  death: NodeJS.Signals,
): Promise<void> {
  await settled(() => all.length === turn);
  const decoder = all[turn - 1]!;
  await once(decoder, 'message');
  decoder.kill(death);
}
