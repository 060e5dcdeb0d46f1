import type { JSX } from 'preact';

type Kind = 'allow' | 'review' | 'block' | 'unjudged';

interface SharePart {
  readonly kind: Kind;
  readonly count: number;
}

/** Parts of a whole as one bar. Its numbers are next to it, so it is hidden from screen readers. */
export function ShareBar({
  parts,
  whole,
}: {
  readonly parts: readonly SharePart[];
  readonly whole: number;
}): JSX.Element {
  let at = 0;
  return (
    <svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="none" width="100" height="8" />
      {parts.map(({ kind, count }) => {
        const x = at;
        // Even the smallest share stays visible.
        const width = count === 0 || whole === 0 ? 0 : Math.max(0.6, (count / whole) * 100);
        at = Math.min(100, x + width);
        return width === 0 ? null : <rect class={kind} x={x} width={Math.min(width, 100 - x)} height="8" />;
      })}
    </svg>
  );
}
