/**
 * Area under the precision-recall curve as average precision: the sum over thresholds of precision times the gain in
 * recall. Equal scores are one threshold; labels are 0 or 1; NaN without a positive.
 */
export function averagePrecision(scores: readonly number[], labels: readonly number[]): number {
  const order = scores.map((_, index) => index).sort((a, b) => scores[b]! - scores[a]!);
  const positives = labels.reduce((sum, label) => sum + label, 0);
  let area = 0;
  let found = 0;
  for (let position = 0; position < order.length;) {
    const score = scores[order[position]!]!;
    let gain = 0;
    while (position < order.length && scores[order[position]!] === score) gain += labels[order[position++]!]!;
    found += gain;
    area += (gain / positives) * (found / position);
  }
  return area;
}
