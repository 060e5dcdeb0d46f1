import { normalise } from '../../src/guard-server/lite/normalise.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { shuffle, type Random } from '../random.ts';

/** Near-duplicates share this many consecutive words, or characters in unspaced scripts. */
const SHARED_WORDS = 4;
const SHARED_CHARACTERS = 10;

/** A passage in more texts than this is a common phrase, not a sign of near-duplicates. */
const COMMON_PASSAGE = 8;

/** Max texts of a group, so that chains of near-duplicates do not merge the whole corpus. */
const MAX_GROUP = 400;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;

function passages(text: string): Set<string> {
  const words = normalise(text).match(WORD) ?? [];
  const found = new Set<string>();
  for (let first = 0; first + SHARED_WORDS <= words.length; first++) {
    found.add(words.slice(first, first + SHARED_WORDS).join(' '));
  }
  if (words.some((word) => word.length >= SHARED_CHARACTERS)) {
    const joined = words.join('');
    for (let first = 0; first + SHARED_CHARACTERS <= joined.length; first++) {
      found.add(joined.slice(first, first + SHARED_CHARACTERS));
    }
  }
  return found;
}

/** The group of each text, as the index of one member: texts that share an uncommon passage are grouped. */
function groups(rows: readonly LabelledText[]): number[] {
  const parent = rows.map((_, index) => index);
  const size = new Int32Array(rows.length).fill(1);
  const root = (index: number): number => {
    let at = index;
    while (parent[at] !== at) at = parent[at] = parent[parent[at]!]!;
    return at;
  };
  const holders = new Map<string, number[]>();
  rows.forEach((row, index) => {
    for (const passage of passages(row.text)) {
      const known = holders.get(passage);
      if (known === undefined) holders.set(passage, [index]);
      else known.push(index);
    }
  });
  const named = new Map<string, number[]>();
  rows.forEach(({ group }, index) => {
    if (group === undefined) return;
    const members = named.get(group);
    if (members === undefined) named.set(group, [index]);
    else members.push(index);
  });
  const uncommon = [...holders.values()].filter(({ length }) => length <= COMMON_PASSAGE);
  for (const members of [...named.values(), ...uncommon]) {
    for (const member of members.slice(1)) {
      const first = root(members[0]!);
      const second = root(member);
      if (first === second || size[first]! + size[second]! > MAX_GROUP) continue;
      parent[second] = first;
      size[first]! += size[second]!;
    }
  }
  return rows.map((_, index) => root(index));
}

/**
 * The fold of each row, 0 to folds - 1. Near-duplicates share a fold, so that a model is never measured on copies of
 * its training texts.
 */
export function assignFolds(rows: readonly LabelledText[], folds: number, random: Random): number[] {
  const groupOf = groups(rows);
  const order = [...new Set(groupOf)];
  shuffle(order, random);
  const foldOf = new Map(order.map((group, position) => [group, position % folds]));
  return groupOf.map((group) => foldOf.get(group)!);
}
