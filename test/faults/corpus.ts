import { writeFile } from 'node:fs/promises';
import { random, sentence } from '../helpers/corpus.ts';

export const ROWS = 20_000;
/** Rows that kill every worker that sends them to a guard. */
export const DEADLY: ReadonlySet<number> = new Set([1234, 15_678]);
export const DEADLY_MARK = 'deadly-text-5f2c';

/** Words of a row: most are short, some long, a few very long, as comments are. */
const LENGTHS = [3, 5, 8, 8, 12, 20, 40, 120, 300];

/** A CSV file of different comments of mixed lengths, among them the deadly ones. */
export async function writeCorpus(path: string, seed: number): Promise<void> {
  const next = random(seed);
  const lines = ['id,text'];
  for (let row = 0; row < ROWS; row++) {
    const words = LENGTHS[Math.floor(next() * LENGTHS.length)]!;
    const mark = DEADLY.has(row) ? `${DEADLY_MARK} ` : '';
    lines.push(`c-${row},${mark}${sentence(next, words)} number ${row}`);
  }
  await writeFile(path, `${lines.join('\n')}\n`);
}
