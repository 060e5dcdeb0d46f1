import { useEffect } from 'preact/hooks';
import { followEvents } from '../api/events.ts';
import { session } from '../api/session.ts';
import { ItemPage } from '../item/item-page.tsx';
import { LoginPage } from '../login/login-page.tsx';
import { Unreachable } from '../login/unreachable.tsx';
import { RunPage } from '../runs/run-page.tsx';
import { RunsPage } from '../runs/runs-page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Toasts } from '../ui/toast.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { Header } from './header.tsx';
import { navigate, route } from './router.ts';
import { pathOf, type Route } from './route.ts';
import { UnknownPage } from './unknown-page.tsx';

export function App() {
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Header />
      <main id="content" tabIndex={-1}>
        <ErrorBoundary key={boundaryOf(route.value)}>
          <Content />
        </ErrorBoundary>
      </main>
      <Toasts />
    </>
  );
}

/** A page that failed is gone when another one is shown. From item to item of a run, or from list to grid, it is the same page. */
function boundaryOf(route: Route): string {
  if (route.page === 'item') return `item of ${route.run}`;
  return route.page === 'run' ? `${route.run} ${route.tab}` : pathOf(route);
}

function Content() {
  const current = session.value;
  switch (current.state) {
    case 'unknown':
      return <Skeleton />;
    case 'failed':
      return <Unreachable error={current.error} />;
    case 'logged-out':
      return <LoginPage />;
    case 'open':
      return <Pages />;
  }
}

/** The pages of a session, with its events. */
function Pages() {
  useEffect(followEvents, []);
  useEffect(() => {
    if (route.value.page === 'login') navigate({ page: 'runs' }, { replace: true });
  }, [route.value]);
  return <PageOf route={route.value} />;
}

function PageOf({ route }: { readonly route: Route }) {
  switch (route.page) {
    case 'runs':
    case 'login':
      return <RunsPage />;
    case 'run':
      return <RunPage key={route.run} {...route} />;
    case 'item':
      return <ItemPage key={route.run} run={route.run} seq={route.seq} />;
    case 'unknown':
      return <UnknownPage />;
  }
}
