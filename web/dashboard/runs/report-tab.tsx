import { useState } from 'preact/hooks';
import type { RunDetail } from '../../../src/dashboard/api/runs.ts';
import { shown } from '../../../src/domain/text/shown.ts';
import { reportPath } from '../api/runs.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { doneItems } from './progress-words.ts';

/** The report of a run, in a frame without rights: nothing in it can reach this page. */
export function ReportTab({ run }: { readonly run: RunDetail }) {
  const done = `${run.state} ${doneItems(run.progress)}`;
  const [shownAt, setShownAt] = useState({ turn: 0, done });
  const goneOn = shownAt.done !== done;
  const path = reportPath(run.run);
  return (
    <div class="report-tab">
      <div class="report-tools">
        <span class="small muted" role="status">
          {goneOn && 'The run has gone on since this report was made.'}
        </span>
        <Button
          class="button-small"
          icon="reload"
          kind={goneOn ? 'primary' : 'plain'}
          onClick={() => setShownAt(({ turn }) => ({ turn: turn + 1, done }))}
        >
          Refresh
        </Button>
        <a class="button button-small" href={path} target="_blank" rel="noopener">
          <Icon name="external" />
          Open in a new tab
        </a>
      </div>
      <iframe
        key={shownAt.turn}
        class="report-frame"
        src={path}
        title={`Report of ${shown(run.name, 80)}`}
        sandbox="allow-scripts"
      />
    </div>
  );
}
