import { OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { dropLetters, swapLetters } from '../disguises.ts';
import type { Random } from '../random.ts';

/** Share of the harmless texts, and of the others, of which a changed copy is added. */
const CHANGED_SHARE = [0.5, 0.9] as const;

/** Nobody disguises longer texts as a whole. */
const MAX_DISGUISED_UNITS = 384;
/** Length up to which texts are put next to each other. */
const MAX_NEIGHBOUR_UNITS = 160;

/** Enough Latin letters for a disguise to change a text. */
const LATIN = /[a-z]{3}/i;

/** The disguises that normalisation cannot undo; null for a neighbour. */
const CHANGES = [dropLetters, swapLetters, null, null];

/**
 * Changed copies of some of the texts. Some are disguised, be they harmless or not, so that neither the disguise nor a
 * misspelling is a sign of a hazard; others get a harmless text of their language before or after them, so that a
 * hazard shows beside harmless words.
 */
export function changedCopies(rows: readonly LabelledText[], random: Random): LabelledText[] {
  const neighbours = new Map<string, string[]>();
  for (const { text, language, targets } of rows) {
    if (targets[OVERALL] === 1 || text.length > MAX_NEIGHBOUR_UNITS) continue;
    const texts = neighbours.get(language);
    if (texts === undefined) neighbours.set(language, [text]);
    else texts.push(text);
  }
  const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)];
  return rows.flatMap((row) => {
    if (random() >= CHANGED_SHARE[row.targets[OVERALL] === 1 ? 1 : 0]) return [];
    const disguise = pick(CHANGES);
    if (disguise) {
      if (row.text.length > MAX_DISGUISED_UNITS || !LATIN.test(row.text)) return [];
      return [{ ...row, text: disguise(row.text, random) }];
    }
    const neighbour = pick(neighbours.get(row.language) ?? []);
    if (neighbour === undefined || row.text.length > MAX_NEIGHBOUR_UNITS) return [];
    const text = random() < 0.5 ? `${row.text} ${neighbour}` : `${neighbour} ${row.text}`;
    return [{ ...row, text }];
  });
}
