import { OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';

/** A benign text counts for at most this many. */
const MAX_WEIGHT = 6;

/**
 * How much a benign text of each language counts in training. Some languages have mostly hazards in the corpora, and a
 * model would learn that the language is the hazard; there, benign texts count for more, until the share of hazards is
 * as it is overall. They never count for less than one.
 */
export function benignWeights(rows: readonly LabelledText[]): ReadonlyMap<string, number> {
  const counts = new Map<string, { benign: number; hazardous: number }>();
  const all = { benign: 0, hazardous: 0 };
  for (const { language, targets } of rows) {
    const own = counts.get(language) ?? { benign: 0, hazardous: 0 };
    counts.set(language, own);
    for (const count of [own, all]) count[targets[OVERALL] === 1 ? 'hazardous' : 'benign']++;
  }
  const weights = new Map<string, number>();
  for (const [language, { benign, hazardous }] of counts) {
    const weight = (hazardous * all.benign) / (benign * all.hazardous);
    weights.set(language, Math.min(MAX_WEIGHT, Math.max(1, weight)));
  }
  return weights;
}
