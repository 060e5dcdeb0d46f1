import type { ComponentChildren } from 'preact';
import { navigate } from './router.ts';
import { pathOf, type Route } from './route.ts';

interface Props {
  readonly to: Route;
  readonly class?: string;
  readonly 'aria-current'?: 'page' | undefined;
  readonly children: ComponentChildren;
}

/** A link to a page of ours: followed without loading, unless it is to open elsewhere. */
export function Link({ to, children, ...rest }: Props) {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a {...rest} href={pathOf(to)} onClick={follow}>
      {children}
    </a>
  );
}
