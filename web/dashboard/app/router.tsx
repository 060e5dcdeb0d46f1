import { signal, type ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { formatRoute, parseRoute, type Route } from './route.ts';

const current = signal<Route>(parseRoute(location.pathname));

/** The current page. */
export const route: ReadonlySignal<Route> = current;

/**
 * Goes to a page. With `replace`, adds no entry to the browser's history. `hash` is appended to the address, for that
 * page.
 */
export function navigate(to: Route, { replace = false, hash = '' } = {}): void {
  const path = formatRoute(to);
  if (replace) history.replaceState(null, '', path + hash);
  else if (path !== location.pathname) history.pushState(null, '', path + hash);
  current.value = to;
}

/** Follows the browser's back and forward buttons. */
export function followHistory(): void {
  addEventListener('popstate', () => {
    current.value = parseRoute(location.pathname);
  });
}

interface LinkProps {
  readonly to: Route;
  readonly hash?: string;
  readonly class?: string;
  readonly 'aria-current'?: 'page' | undefined;
  readonly children: ComponentChildren;
}

/** A link to one of our pages: followed without loading, unless it opens in another tab or window. */
export function Link({ to, hash = '', children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to, { hash });
  };
  return (
    <a {...rest} href={formatRoute(to) + hash} onClick={follow}>
      {children}
    </a>
  );
}
