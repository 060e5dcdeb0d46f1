import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { escapeText } from '../../../src/domain/text/escape-text.ts';
import { reportPath } from '../api/runs.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';

/** The report of a finished run, in a frame without rights: nothing in it can reach this page. */
export function ReportTab({ run }: { readonly run: RunDetail }) {
  if (run.state !== 'finished') {
    return (
      <EmptyState icon="info" title="No report yet">
        A run has a report when it is finished.
      </EmptyState>
    );
  }
  const path = reportPath(run.run);
  return (
    <div class="report-tab">
      <div class="report-tools">
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
