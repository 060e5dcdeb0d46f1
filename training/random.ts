/** Uniform numbers from 0 to 1, 1 excluded. */
export type Random = () => number;

/** Tommy Ettinger's mulberry32 (public domain): the same sequence for the same seed on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** Shuffles in place (Fisher-Yates). */
export function shuffle<T>(values: T[], random: Random): void {
  for (let last = values.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const value = values[last]!;
    values[last] = values[other]!;
    values[other] = value;
  }
}
