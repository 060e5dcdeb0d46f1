import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { filtersSet, NO_FILTER } from './place.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { count } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { FIRST_USE, Skeleton } from '../ui/skeleton.tsx';
import { ItemList } from './item-list.tsx';
import { PAGE_ROWS } from './item-pages.ts';
import type { ReviewList } from './review-list.ts';
import type { Reviewing } from './reviewing.ts';

interface ListBodyProps {
  readonly reviewing: Reviewing;
  readonly open: () => void;
  readonly pressOpens: boolean;
  /** The run, if its items are shown as tiles. */
  readonly tilesOf: RunDetail | null;
}

/** The rows of the list, or why there are none. */
export function ListBody({ reviewing, open, pressOpens, tilesOf }: ListBodyProps) {
  const { list } = reviewing;
  const state = list.state.value;
  const rows = list.rows.value;
  if (state.kind === 'failed') {
    return (
      <Notice tone="block" role="alert" title="The list could not be read">
        <p>{state.message}</p>
        <Button onClick={() => list.refresh()}>Try again</Button>
        {filtersSet(list.filter.value) > 0 && (
          <Button kind="quiet" onClick={() => list.ask({ filter: NO_FILTER })}>
            Clear the filters
          </Button>
        )}
      </Notice>
    );
  }
  if (rows === undefined) return <Skeleton lines={12} slow={FIRST_USE} />;
  if (rows.length === 0) {
    return (
      <EmptyState
        icon="info"
        title={filtersSet(list.filter.value) > 0 ? 'No item passes the filters' : 'This run has no items'}
      >
        {filtersSet(list.filter.value) > 0 && (
          <Button onClick={() => list.ask({ filter: NO_FILTER })}>Clear the filters</Button>
        )}
      </EmptyState>
    );
  }
  return <ItemList reviewing={reviewing} rows={rows} open={open} pressOpens={pressOpens} tilesOf={tilesOf} />;
}

/** Shows which items of the list are visible, and links to others. */
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
