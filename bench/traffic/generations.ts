import type { Cadence } from '../../src/guard/tensors/stream/stream-messages.ts';
import type { Random } from '../../training/random.ts';
import { between, randomText } from './texts.ts';

/** A recorded generation, replayed as a moderation stream. */
export interface Generation {
  readonly prompt: string;
  /** At least two. */
  readonly chunks: readonly string[];
  /** In chunks, so the verdicts depend only on the text. */
  readonly cadence: Cadence;
}

export function randomGenerations(random: Random, count: number): Generation[] {
  return Array.from({ length: count }, () => ({
    prompt: randomText(random, 3, 20),
    chunks: Array.from({ length: between(random, 2, 12) }, () => `${randomText(random, 1, 6)} `),
    cadence: { unit: 'chunks', every: between(random, 1, 4) },
  }));
}
