import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { filtersSet, NO_FILTER } from './place.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Notice } from '../ui/notice.tsx';
import { Progress } from '../ui/progress.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ItemList } from './item-list.tsx';
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
  if (state.kind === 'indexing') {
    return (
      <div class="stack" role="status">
        <p>Indexing the run for its first use: {Math.floor(state.share * 100)}%</p>
        <Progress label="Indexing" share={state.share} />
      </div>
    );
  }
  if (rows === undefined) return <Skeleton lines={12} />;
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
  return (
    <>
      {list.stale.value && (
        <Notice tone="accent" role="status" title="The run has gone on since this list was made">
          <Button onClick={() => list.refresh()}>
            Refresh <kbd>r</kbd>
          </Button>
        </Notice>
      )}
      <ItemList reviewing={reviewing} rows={rows} open={open} pressOpens={pressOpens} tilesOf={tilesOf} />
    </>
  );
}
