/** The pages and their paths. A path contains the name of a run and the seq of an item, never an id or content. */
export const RUN_TABS = ['overview', 'report', 'review', 'thresholds'] as const;

export type RunTab = (typeof RUN_TABS)[number];

export type Route =
  | { readonly page: 'login' }
  | { readonly page: 'runs' }
  | {
      readonly page: 'run';
      readonly run: string;
      readonly tab: RunTab;
      readonly flagged?: true;
      /** For tab `review`: shows items as tiles. */
      readonly grid?: true;
    }
  | { readonly page: 'item'; readonly run: string; readonly seq: number }
  | { readonly page: 'unknown' };

const UNKNOWN: Route = { page: 'unknown' };

/** Parses a path; `unknown` for a path without a page. */
export function parseRoute(path: string): Route {
  if (path === '/') return { page: 'runs' };
  if (path === '/login') return { page: 'login' };
  const [, runs, encoded = '', tab = 'overview', item, ...rest] = path.split('/');
  const run = decodePart(encoded);
  if (runs !== 'runs' || run === null || run === '' || rest.length > 0) return UNKNOWN;
  if (tab === 'items') {
    return item !== undefined && /^(0|[1-9][0-9]{0,14})$/.test(item)
      ? { page: 'item', run, seq: Number(item) }
      : UNKNOWN;
  }
  if (tab === 'review' && item === 'flagged') return { page: 'run', run, tab, flagged: true };
  if (tab === 'review' && item === 'grid') return { page: 'run', run, tab, grid: true };
  const known = RUN_TABS.find((name) => name === tab);
  return known === undefined || item !== undefined ? UNKNOWN : { page: 'run', run, tab: known };
}

/** The path of a page. */
export function formatRoute(route: Route): string {
  switch (route.page) {
    case 'login':
      return '/login';
    case 'run':
      return (
        runPath(route.run) +
        (route.tab === 'overview'
          ? ''
          : `/${route.tab}${route.flagged ? '/flagged' : ''}${route.grid ? '/grid' : ''}`)
      );
    case 'item':
      return `${runPath(route.run)}/items/${route.seq}`;
    case 'runs':
    case 'unknown':
      return '/';
  }
}

/** Route of a run's review list, as lines or as tiles. */
export function reviewRoute(run: string, grid: boolean): Route {
  return { page: 'run', run, tab: 'review', ...(grid && { grid }) };
}

const runPath = (run: string): string => `/runs/${encodeURIComponent(run)}`;

function decodePart(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
