import type { RunTab } from '../app/route.ts';
import { Page } from '../app/page.tsx';

export function RunPage({ run, tab }: { readonly run: string; readonly tab: RunTab }) {
  return <Page title={run}>{tab}</Page>;
}
