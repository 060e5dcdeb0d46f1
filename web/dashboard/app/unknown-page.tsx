import { EmptyState } from '../ui/empty-state.tsx';
import { Link } from './link.tsx';
import { Page } from './page.tsx';

export function UnknownPage() {
  return (
    <Page title="No such page">
      <EmptyState icon="info" title="There is nothing here">
        <p>The address may be cut off, or of another version.</p>
        <Link class="button button-primary" to={{ page: 'runs' }}>
          All runs
        </Link>
      </EmptyState>
    </Page>
  );
}
