import { OVERALL } from '../../src/guard-server/lite/weights-file.ts';
import type { LabelledText } from '../corpora/corpus.ts';
import { PLAIN_TEXTS } from '../corpora/plain-texts.ts';

/** Max weight of a benign text. */
const MAX_WEIGHT = 6;

/**
 * Training weight of a benign text per language, at least 1. In some languages most texts are hazardous, and a model
 * would learn the language as a hazard: there benign texts weigh more, to match the overall share of hazards. Our own texts
 * do not count, and are not weighted.
 */
export function benignWeights(rows: readonly LabelledText[]): ReadonlyMap<string, number> {
  const counts = new Map<string, { benign: number; hazardous: number }>();
  const all = { benign: 0, hazardous: 0 };
  for (const { language, source, targets } of rows) {
    if (source === PLAIN_TEXTS) continue;
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
