import { Page } from '../app/page.tsx';

export function RunsPage() {
  return <Page title="Runs">…</Page>;
}
