import { useEffect, useState } from 'preact/hooks';

/** After this many milliseconds, the wait is explained. */
const SLOW_MS = 1500;

interface SkeletonProps {
  readonly lines?: number;
  /** Explanation of a long wait. */
  readonly slow?: string;
}

/** Placeholder while something is loading. */
export function Skeleton({ lines = 3, slow }: SkeletonProps) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="skeleton" role="status">
      {isSlow && slow !== undefined ? <p>{slow}</p> : <span class="hidden">Loading</span>}
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="skeleton-line" aria-hidden="true" />
      ))}
    </div>
  );
}

/** Shown while the index of a run is built. */
export const FIRST_USE = 'The run is being read for its first use. A million items take some seconds.';
