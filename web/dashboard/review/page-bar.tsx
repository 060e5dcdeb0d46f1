import { Button } from '../ui/button.tsx';
import { count } from '../ui/format.ts';
import { PAGE_ROWS } from './item-pages.ts';
import type { ReviewList } from './review-list.ts';

/** Which items of the list are shown, and the way to others. */
export function PageBar({ list }: { readonly list: ReviewList }) {
  const total = list.total.value ?? 0;
  const first = list.page.value * PAGE_ROWS;
  if (total <= PAGE_ROWS) return null;
  return (
    <nav class="page-bar" aria-label="Pages of the list">
      <Button icon="left" disabled={first === 0} onClick={() => list.select(first - PAGE_ROWS)}>
        <span class="hidden">Previous 100 items</span>
      </Button>
      <span>
        {count(first + 1)} to {count(Math.min(first + PAGE_ROWS, total))} of {count(total)}
      </span>
      <Button
        icon="right"
        disabled={first + PAGE_ROWS >= total}
        onClick={() => list.select(first + PAGE_ROWS)}
      >
        <span class="hidden">Next 100 items</span>
      </Button>
      <label>
        Go to{' '}
        <input
          type="number"
          min={1}
          max={total}
          onChange={(event) => {
            const { valueAsNumber } = event.currentTarget;
            if (!Number.isNaN(valueAsNumber)) list.select(Math.floor(valueAsNumber) - 1);
          }}
        />
      </label>
    </nav>
  );
}
