const BINS = 10;

/**
 * Expected calibration error (Naeini, Cooper, Hauskrecht 2015): the mean distance of probabilities from the share of
 * positives, over ten bins of equal width, weighted by their size. Labels are 0 or 1.
 */
export function calibrationError(probabilities: readonly number[], labels: readonly number[]): number {
  const bins = Array.from({ length: BINS }, () => ({ probabilities: 0, positives: 0 }));
  probabilities.forEach((probability, index) => {
    const bin = bins[Math.min(BINS - 1, Math.floor(probability * BINS))]!;
    bin.probabilities += probability;
    bin.positives += labels[index]!;
  });
  const distance = bins.reduce((sum, bin) => sum + Math.abs(bin.probabilities - bin.positives), 0);
  return distance / probabilities.length;
}
