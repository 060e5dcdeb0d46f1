import { Component, type ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { session } from '../api/session.ts';
import { ItemPage } from '../item/item-page.tsx';
import { LoginPage, Unreachable } from '../login/login-page.tsx';
import { RunPage } from '../runs/run-page.tsx';
import { RunsPage } from '../runs/runs-page.tsx';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Toasts } from '../ui/toast.tsx';
import { Header } from './header.tsx';
import { Link, navigate, route } from './router.tsx';
import { formatRoute, type Route } from './route.ts';
import { Page } from './page.tsx';

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

/**
 * Key of the error boundary: a failed page is reset when another one is shown. Moving between items of a run, or from
 * list to grid, stays on the same page.
 */
function boundaryOf(route: Route): string {
  if (route.page === 'item') return `item of ${route.run}`;
  return route.page === 'run' ? `${route.run} ${route.tab}` : formatRoute(route);
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

/** The pages of a session. */
function Pages() {
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

function UnknownPage() {
  return (
    <Page title="No such page">
      <EmptyState icon="info" title="There is nothing here">
        <p>The address may be incomplete, or from another version.</p>
        <Link class="button button-primary" to={{ page: 'runs' }}>
          All runs
        </Link>
      </EmptyState>
    </Page>
  );
}

/**
 * Shows that a page failed, in place of the page. The error itself stays in the browser's console: it may quote
 * content.
 */
class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, { failed: boolean }> {
  override state = { failed: false };

  static override getDerivedStateFromError = (): { failed: boolean } => ({ failed: true });

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Notice tone="block" title="This page failed">
        <p>This is a bug in guardsweep. The run was not changed.</p>
        <Button onClick={() => location.reload()}>Load the page again</Button>
      </Notice>
    );
  }
}
