import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Small deterministic generator (mulberry32) for corpora and moments; the seed is printed by whoever picks one. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A seed from the environment (SEED), else a new one; printed, so that a failure can be run again. */
export function seed(): number {
  const chosen = process.env.SEED === undefined ? Date.now() % 1_000_000 : Number(process.env.SEED);
  console.log(`seed: SEED=${chosen}`);
  return chosen;
}

/** Rounds of a test with random inputs: a quarter of them in `npm test`, all in `npm run test:slow`. */
export const rounds = (all: number): number => Math.ceil(all * Number(process.env.TEST_ROUNDS ?? 0.25));

const WORDS =
  'the garden market river letter window music winter bread train teacher evening report bicycle harbour story'.split(
    ' ',
  );

export function sentence(next: () => number, words = 12): string {
  return Array.from({ length: words }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ');
}

/** A CSV file of `rows` comments with ids; every text is different. */
export async function writeComments(folder: string, name: string, rows: number, from = 1): Promise<void> {
  const next = random(from);
  let text = 'comment_id,body\n';
  for (let row = 0; row < rows; row++) text += `c-${from + row},"${sentence(next)}, number ${from + row}"\n`;
  await writeFile(join(folder, name), text);
}
