import { effect, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { reviewerName } from '../api/session.ts';
import { Link, navigate } from '../app/router.tsx';
import { reviewRoute } from '../app/route.ts';
import { useShortcuts } from '../app/shortcuts.ts';
import { hasName } from '../login/reviewer-name.tsx';
import { ItemView } from '../item/item-view.tsx';
import { BulkDialog } from './bulk/bulk-dialog.tsx';
import { BulkNotice } from './bulk/bulk-notice.tsx';
import { Deciding } from './deciding.tsx';
import { FilterBar } from './filters/filter-bar.tsx';
import { formatFilterHash, parseFilterHash } from './filters/filter-link.ts';
import { FilterPanel } from './filters/filter-panel.tsx';
import { ListBody, PageBar } from './list-body.tsx';
import { NO_FILTER } from './place.ts';
import { PAGE_ROWS } from './item-pages.ts';
import { getReviewing, type Reviewing } from './reviewing.ts';
import { Reviewed } from '../runs/run-state.tsx';
import { Announced, SessionBar } from './session-bar.tsx';

interface ReviewPageProps {
  readonly run: RunDetail;
  /** Whether to list the items to review or block, the open ones first, instead of the last list. */
  readonly flagged: boolean;
  /** Whether the items are shown as tiles. */
  readonly grid: boolean;
}

/** The items of a run to review; if there is room, the selected one is shown next to the list. */
export function ReviewPage({ run, flagged, grid }: ReviewPageProps) {
  const reviewing = useMemo(() => getReviewing(run.run), [run.run, reviewerName()]);
  const { list } = reviewing;
  useEffect(() => {
    if (!flagged) return;
    // From here on, the list is where somebody leaves it.
    navigate({ page: 'run', run: run.run, tab: 'review' }, { replace: true });
    list.ask({ filter: { ...NO_FILTER, decisions: ['review', 'block'] }, sort: 'open' });
  }, [flagged]);
  const linked = useRef(parseFilterHash(location.hash));
  useEffect(() => {
    const { filter, sort } = list;
    if (linked.current !== null && location.hash !== formatFilterHash(filter.value, sort.value))
      list.ask(linked.current);
    linked.current = null;
    return effect(() =>
      history.replaceState(null, '', location.pathname + formatFilterHash(filter.value, sort.value)),
    );
  }, [list, grid]);
  useEffect(() => {
    reviewing.grid = grid;
  }, [reviewing, grid]);
  const wide = useWide();
  useEffect(() => void reviewing.renew(), [reviewing, run.version]);
  const filtering = useSignal(false);
  const deciding = useSignal(false);
  const search = useRef<HTMLInputElement>(null);
  const toggleFilters = (): void => {
    filtering.value = !filtering.value;
  };
  const open = (): void => {
    if (list.row.value !== undefined) navigate({ page: 'item', run: run.run, seq: list.row.value.seq });
  };
  useShortcuts('Review list', [
    { keys: ['j'], does: 'Next item', run: () => reviewing.move(1), repeats: true },
    { keys: ['k'], does: 'Previous item', run: () => reviewing.move(-1), repeats: true },
    { keys: [']'], does: 'Next 100 items', run: () => reviewing.move(PAGE_ROWS), repeats: true },
    { keys: ['['], does: 'Previous 100 items', run: () => reviewing.move(-PAGE_ROWS), repeats: true },
    { keys: ['o'], does: 'Open the item; so does Enter in the list', run: open },
    { keys: ['f'], does: 'Filters', run: toggleFilters },
    { keys: ['v'], does: 'List or grid', run: () => navigate(reviewRoute(run.run, !grid)) },
    { keys: ['/'], does: 'Search ids and paths', run: () => search.current?.focus() },
    { keys: ['r'], does: 'Ask for the list again', run: () => list.refresh() },
  ]);

  return (
    <div class={`review-page ${filtering.value ? 'filtering' : ''}`}>
      <FilterBar
        list={list}
        search={search}
        open={filtering.value}
        toggle={toggleFilters}
        decideAll={() => (deciding.value = hasName())}
        views={<Views run={run.run} grid={grid} />}
        reviewed={<Reviewed run={run} />}
      />
      <BulkNotice bulk={reviewing.bulk} />
      {deciding.value && <BulkDialog reviewing={reviewing} close={() => (deciding.value = false)} />}
      <div class="review-columns">
        {filtering.value && <FilterPanel list={list} close={toggleFilters} />}
        <div class="list-column">
          <ListBody reviewing={reviewing} open={open} pressOpens={!wide} tilesOf={grid ? run : null} />
          <PageBar list={list} />
        </div>
        {wide && <SelectedItem reviewing={reviewing} run={run} />}
      </div>
      <SessionBar reviewing={reviewing} />
      <Announced reviewing={reviewing} />
    </div>
  );
}

/** The selected item, next to the list. */
function SelectedItem({ reviewing, run }: { readonly reviewing: Reviewing; readonly run: RunDetail }) {
  const { list, details } = reviewing;
  const scrolled = useRef<HTMLDivElement>(null);
  const row = list.row.value;
  const next = list.nextRow.value;
  useEffect(() => {
    details.want([row?.seq, next?.seq].filter((seq) => seq !== undefined));
  }, [row?.seq, next?.seq]);
  useEffect(() => scrolled.current?.scrollTo(0, 0), [row?.seq]);
  if (row === undefined) return <div class="item-column" />;
  return (
    <div class="item-column">
      <div class="item-scroll" ref={scrolled}>
        <ItemView run={run} seq={row.seq} detail={details.get(row.seq)} />
      </div>
      <Deciding
        key={row.seq}
        reviewing={reviewing}
        item={row}
        readable={run.content.readable}
        review={row.review}
      />
    </div>
  );
}

/** The choice between list and grid. */
function Views({ run, grid }: { readonly run: string; readonly grid: boolean }) {
  return (
    <nav class="views" aria-label="View">
      <Link to={reviewRoute(run, false)} aria-current={grid ? undefined : 'page'}>
        List
      </Link>
      <Link to={reviewRoute(run, true)} aria-current={grid ? 'page' : undefined}>
        Grid
      </Link>
    </nav>
  );
}

const WIDE = '(min-width: 62rem)';

/** Whether there is room for an item next to the list. */
function useWide(): boolean {
  const [wide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const media = matchMedia(WIDE);
    const changed = (): void => setWide(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return wide;
}
