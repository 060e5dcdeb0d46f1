import { randomInt } from 'node:crypto';

/** One seed for all files; ADVERSARIAL_SEED repeats a run. */
export default function setup(): void {
  process.env['ADVERSARIAL_SEED'] ??= String(randomInt(1_000_000));
  console.info(`ADVERSARIAL_SEED=${process.env['ADVERSARIAL_SEED']}`);
}
