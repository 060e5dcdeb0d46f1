import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { useState } from 'preact/hooks';
import { listRuns, reportPath, runApi } from '../api/runs.ts';
import { useLoad } from '../api/use-load.ts';
import { usePoll } from '../api/use-poll.ts';
import { Link } from '../app/router.tsx';
import { Page } from '../app/page.tsx';
import { RUN_TABS, type RunTab } from '../app/route.ts';
import { ReviewPage } from '../review/review-page.tsx';
import { ThresholdsPage } from '../thresholds/thresholds-page.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { localTime } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Overview } from './overview/overview.tsx';
import { RunActions } from './run-actions.tsx';
import { RunStateBadge } from './run-state.tsx';

interface Props {
  readonly run: string;
  readonly tab: RunTab;
  readonly flagged?: true;
  readonly grid?: true;
}

/** A run's page, updated while the run progresses. */
export function RunPage({ run: name, tab, flagged, grid }: Props) {
  const { value: run, error, reload } = usePoll<RunDetail>(runApi(name));

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
      {run !== null && <Tab {...{ tab, run }} flagged={flagged === true} grid={grid === true} />}
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
  readonly run: RunDetail;
}

function Tab({ tab, run, flagged, grid }: TabProps) {
  if (run.state === 'purged' && tab !== 'overview') {
    return (
      <EmptyState icon="info" title="Purged">
        <p>What this run found was deleted. The overview has its counts, which are kept.</p>
      </EmptyState>
    );
  }
  if (run.state !== 'finished' && tab !== 'overview') {
    return (
      <EmptyState icon="info" title="Not finished yet">
        <p>
          Report, review and thresholds are about finished runs. The overview counts what was judged so far.
        </p>
      </EmptyState>
    );
  }
  switch (tab) {
    case 'overview':
      return <Overview run={run} />;
    case 'report':
      return <ReportTab run={run} />;
    case 'review':
      return <ReviewPage run={run} flagged={flagged} grid={grid} />;
    case 'thresholds':
      return <ThresholdsPage run={run} />;
  }
}

/** The report of a finished run, in a sandboxed frame: nothing in it can reach this page. */
function ReportTab({ run }: { readonly run: RunDetail }) {
  const [before, setBefore] = useState('');
  const { value: list } = useLoad('runs', listRuns);
  const others = list?.runs.filter((other) => other.state === 'finished' && other.run !== run.run) ?? [];
  const path = reportPath(run.run, before) + (before === '' ? location.hash : '#previous');
  return (
    <div class="report-tab">
      <div class="report-tools">
        {others.length > 0 && (
          <label>
            Compared with{' '}
            <select value={before} onChange={(event) => setBefore(event.currentTarget.value)}>
              <option value="">the run before of this job</option>
              {others.map(({ run: other, name, created_at: at }) => (
                <option key={other} value={other}>
                  {escapeText(name, 40)}
                  {at !== null && `, ${localTime(at)}`}
                </option>
              ))}
            </select>
          </label>
        )}
        <a class="button button-small" href={path} target="_blank" rel="noopener">
          <Icon name="external" />
          Open in a new tab
        </a>
      </div>
      <iframe
        class="report-frame"
        src={path}
        title={`Report of ${escapeText(run.name, 80)}`}
        sandbox="allow-scripts"
      />
    </div>
  );
}
