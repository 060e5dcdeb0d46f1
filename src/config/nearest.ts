/**
 * Damerau–Levenshtein distance (optimal string alignment): the fewest insertions, deletions, replacements and
 * swaps of neighbours that turn one word into the other. Quadratic, meant for words.
 */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = last[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, replaced);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, beforeLast[column - 2]! + 1);
      }
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}

const MAX_WORD = 64;

/** What people vary without meaning another word: case, and how words are joined. */
const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_ ]/g, '');

/**
 * The known word that a mistyped one probably stands for, or null when none is near: at most one error for every
 * three letters, case and joining signs (`fail-if`, `failIf`) not counted.
 */
export function nearest(word: string, known: Iterable<string>): string | null {
  if (word.length > MAX_WORD) return null;
  let best: string | null = null;
  let fewest = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const errors = distance(plain(word), plain(candidate));
    if (errors < fewest) {
      best = candidate;
      fewest = errors;
    }
  }
  return best;
}
