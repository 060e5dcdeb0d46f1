interface HistogramProps {
  /** Items by score, in bins of equal width from 0 to 1. */
  readonly bins: readonly number[];
}

const HEIGHT = 40;

/** Distribution of scores, on a logarithmic scale: most scores are near 0. */
export function Histogram({ bins }: HistogramProps) {
  const top = Math.log1p(Math.max(1, ...bins));
  const bars = bins
    .map((items, bin) => {
      const height = items === 0 ? 0 : Math.max(1, (Math.log1p(items) / top) * HEIGHT);
      return height === 0 ? '' : `M${bin + 0.1} ${HEIGHT}v${-height}h0.8v${height}z`;
    })
    .join('');
  return (
    <svg
      class="histogram"
      viewBox={`0 0 ${bins.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={bars} />
    </svg>
  );
}
