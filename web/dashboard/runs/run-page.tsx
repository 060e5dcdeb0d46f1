import { useEffect } from 'preact/hooks';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { liveRuns } from '../api/events.ts';
import { runDetail } from '../api/runs.ts';
import { useLoad } from '../api/use-load.ts';
import { Link } from '../app/link.tsx';
import { Page } from '../app/page.tsx';
import { RUN_TABS, type RunTab } from '../app/route.ts';
import { ReviewPage } from '../review/review-page.tsx';
import { ThresholdsPage } from '../thresholds/thresholds-page.tsx';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Overview } from './overview/overview.tsx';
import { ReportTab } from './report-tab.tsx';
import { RunActions } from './run-actions.tsx';
import { RunStateBadge } from './run-state.tsx';

interface Props {
  readonly run: string;
  readonly tab: RunTab;
  readonly flagged?: true;
  readonly grid?: true;
}

/** A run, with what the server says of it as it goes on. */
export function RunPage({ run: name, tab, flagged, grid }: Props) {
  const { value, error, reload } = useLoad(name, (signal) => runDetail(name, signal));
  const row = liveRuns.value?.find(({ run }) => run === name);
  const ending = row === undefined ? null : `${row.state} ${row.not_judged}`;
  const known = value === null ? null : `${value.state} ${value.not_judged}`;
  useEffect(() => {
    // What the row does not have: the summary of a run that has finished since it was loaded, even before it had a row.
    if (ending !== null && known !== null && known !== ending) reload();
  }, [ending, known === null]);
  const run: RunDetail | null = value === null ? null : { ...value, ...row };

  return (
    <Page
      title={run?.name ?? name}
      above={
        <nav class="breadcrumb" aria-label="Breadcrumb">
          <Link to={{ page: 'runs' }}>Runs</Link>
        </nav>
      }
      beside={run !== null && <RunStateBadge state={run.state} />}
      actions={run !== null && <RunActions run={run} />}
    >
      <Tabs run={name} tab={tab} />
      {error !== null && (
        <Notice tone="block" title={error.message} role="alert">
          <Button icon="reload" onClick={reload}>
            Try again
          </Button>
        </Notice>
      )}
      {run === null && error === null && <Skeleton lines={6} />}
      {run !== null && value !== null && (
        <Tab {...{ tab, run }} loaded={value} flagged={flagged === true} grid={grid === true} />
      )}
    </Page>
  );
}

const TAB_WORDS: Readonly<Record<RunTab, string>> = {
  overview: 'Overview',
  report: 'Report',
  review: 'Review',
  thresholds: 'Thresholds',
};

function Tabs({ run, tab }: Pick<Props, 'run' | 'tab'>) {
  return (
    <nav class="tabs" aria-label="Of this run">
      {RUN_TABS.map((name) => (
        <Link
          key={name}
          to={{ page: 'run', run, tab: name }}
          aria-current={name === tab ? 'page' : undefined}
        >
          {TAB_WORDS[name]}
        </Link>
      ))}
    </nav>
  );
}

interface TabProps {
  readonly tab: RunTab;
  readonly flagged: boolean;
  readonly grid: boolean;
  /** As it goes on. */
  readonly run: RunDetail;
  /** As it was loaded, for what does not follow each change. */
  readonly loaded: RunDetail;
}

function Tab({ tab, run, loaded, flagged, grid }: TabProps) {
  switch (tab) {
    case 'overview':
      return <Overview run={run} />;
    case 'report':
      return <ReportTab run={run} />;
    case 'review':
      return <ReviewPage run={loaded} flagged={flagged} grid={grid} />;
    case 'thresholds':
      return <ThresholdsPage run={loaded} />;
  }
}
