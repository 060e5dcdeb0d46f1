import type { Random } from '../../training/random.ts';

/** Harmless and alarming words, so texts made of them get scores of all sizes. */
const WORDS =
  'the a to of and in my your how where when please garden recipe weather train music letter doctor school ' +
  'neighbour invoice password account weapon attack poison bomb steal hate kill drug virus threat blood hack';

const LIST = WORDS.split(' ');

/** Makes a text of `min` to `max` random words. */
export function randomText(random: Random, min: number, max: number): string {
  const count = between(random, min, max);
  return Array.from({ length: count }, () => pick(random, LIST)).join(' ');
}

/** A random integer from `min` to `max`, inclusive. */
export function between(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

export function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!;
}
