import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { LabelledText } from '../corpora/corpus.ts';

/** What one network is trained on. */
export interface TrainingSet {
  readonly rows: readonly LabelledText[];
  readonly seed: number;
}

/** Networks that are trained at a time, each in a thread. */
const THREADS = 2;

/** The weights files of networks trained on each of the sets, in their order: the same bytes however many threads. */
export async function trainNetworks(
  sets: readonly TrainingSet[],
  report: (line: string) => void,
): Promise<Buffer[]> {
  const files: Buffer[] = [];
  const waiting = sets.entries();
  const train = async (): Promise<void> => {
    for (const [index, set] of waiting) {
      report(`training network ${index + 1} of ${sets.length} on ${set.rows.length} texts`);
      files[index] = await trainInThread(set);
    }
  };
  await Promise.all(Array.from({ length: THREADS }, train));
  return files;
}

async function trainInThread(set: TrainingSet): Promise<Buffer> {
  const entry = createRequire(import.meta.url).resolve('#dist/training/fit/training-thread.js');
  const thread = new Worker(entry, { workerData: set });
  const [file] = (await once(thread, 'message')) as [Uint8Array];
  return Buffer.from(file);
}
