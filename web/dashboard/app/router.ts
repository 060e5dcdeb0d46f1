import { signal, type ReadonlySignal } from '@preact/signals';
import { pathOf, routeOf, type Route } from './route.ts';

const current = signal<Route>(routeOf(location.pathname));

/** The page that is shown. */
export const route: ReadonlySignal<Route> = current;

/** Goes to a page. `replace`: without a step in the browser's history. */
export function navigate(to: Route, { replace = false } = {}): void {
  const path = pathOf(to);
  if (replace) history.replaceState(null, '', path);
  else if (path !== location.pathname) history.pushState(null, '', path);
  current.value = to;
}

/** Lets the browser's back and forward act, for as long as the page is there. */
export function followHistory(): void {
  addEventListener('popstate', () => {
    current.value = routeOf(location.pathname);
  });
}
