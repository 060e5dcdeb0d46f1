import { Link } from '../../app/link.tsx';
import type { Route } from '../../app/route.ts';

/** The review list of a run as lines or as tiles. */
export function viewOf(run: string, grid: boolean): Route {
  return { page: 'run', run, tab: 'review', ...(grid && { grid }) };
}

/** The choice between list and grid. */
export function Views({ run, grid }: { readonly run: string; readonly grid: boolean }) {
  return (
    <nav class="views" aria-label="View">
      <Link to={viewOf(run, false)} aria-current={grid ? undefined : 'page'}>
        List
      </Link>
      <Link to={viewOf(run, true)} aria-current={grid ? 'page' : undefined}>
        Grid
      </Link>
    </nav>
  );
}
