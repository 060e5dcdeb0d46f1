import { useState } from 'preact/hooks';
import { health, liveRuns, olderRuns } from '../api/events.ts';
import { session } from '../api/session.ts';
import { Page } from '../app/page.tsx';
import { useShortcuts } from '../app/shortcuts.ts';
import { Button } from '../ui/button.tsx';
import { counted } from '../ui/format.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { FirstRun } from './first-run.tsx';
import { HealthStrip } from './health-strip.tsx';
import { RunCard } from './run-card.tsx';
import { StartRunDialog } from './start-run-dialog.tsx';

/** Runs that are shown at first, and with each wish for more. */
const SOME = 50;

/** All runs, the newest first, as they go on. */
export function RunsPage() {
  const [starting, setStarting] = useState(false);
  const [some, setSome] = useState(SOME);
  const runs = liveRuns.value;
  const current = session.value;
  const mayStart = current.state === 'open' && current.session.may_control;
  const start = (): void => setStarting(true);
  useShortcuts('Runs', [
    { keys: ['j'], does: 'Next run', run: () => step(1) },
    { keys: ['k'], does: 'Run before', run: () => step(-1) },
    ...(mayStart ? [{ keys: ['n'], does: 'Start a run', run: start }] : []),
  ]);
  const startButton = mayStart && (
    <Button kind="primary" icon="plus" onClick={start}>
      Start a run
    </Button>
  );
  return (
    <Page title="Runs" actions={runs !== null && runs.length > 0 ? startButton : undefined}>
      <div class="stack">
        {health.value !== null && <HealthStrip health={health.value} />}
        {runs === null && <Skeleton lines={6} />}
        {runs?.length === 0 && <FirstRun startButton={startButton} />}
        {runs !== null && runs.length > 0 && (
          <ul class="stack run-list">
            {runs.slice(0, some).map((run) => (
              <RunCard key={run.run} run={run} />
            ))}
          </ul>
        )}
        {runs !== null && runs.length > some && (
          <Button onClick={() => setSome(some + SOME)}>Show more of {counted(runs.length, 'run')}</Button>
        )}
        {olderRuns.value > 0 && (
          <p class="muted">{counted(olderRuns.value, 'older run is', 'older runs are')} not listed.</p>
        )}
      </div>
      {starting && <StartRunDialog onClose={() => setStarting(false)} />}
    </Page>
  );
}

/** Moves the focus from run to run. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.run-list h2 a')];
  const now = links.findIndex((link) => link.closest('li')?.contains(document.activeElement));
  links[now === -1 ? 0 : Math.max(0, Math.min(links.length - 1, now + by))]?.focus();
}
