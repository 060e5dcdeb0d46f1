import { useState } from 'preact/hooks';
import type { RunList } from '../../../src/dashboard/api/runs.ts';
import { usePoll } from '../api/use-poll.ts';
import { session } from '../api/session.ts';
import { Page } from '../app/page.tsx';
import { useShortcuts } from '../app/shortcuts.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { Command } from '../ui/untrusted-text.tsx';
import { formatCount } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { HealthStrip } from './health-strip.tsx';
import { RunCard } from './run-card.tsx';

/** Number of runs shown at first, and added by each click for more. */
const SOME = 50;

/** All runs, the newest first, updated as they progress. */
export function RunsPage() {
  const [some, setSome] = useState(SOME);
  const { value: list, error } = usePoll<RunList>('/api/runs');
  const runs = list?.runs ?? null;
  useShortcuts('Runs', [
    { keys: ['j'], does: 'Next run', run: () => step(1) },
    { keys: ['k'], does: 'Run before', run: () => step(-1) },
  ]);
  return (
    <Page title="Runs">
      <div class="stack">
        {error !== null && <Notice tone="block" role="alert" title={error.message} />}
        {list !== null && <HealthStrip health={list.health} />}
        {list === null && error === null && <Skeleton lines={6} />}
        {runs?.length === 0 && (
          <EmptyState icon="shield" title="No run yet">
            <p>
              A run judges everything in the files and folders that you name, and keeps a verdict on each
              item. It reads tables, chats, texts, images and audio.
            </p>
          </EmptyState>
        )}
        {runs !== null && <HowToStart />}
        {runs !== null && runs.length > 0 && (
          <ul class="stack run-list">
            {runs.slice(0, some).map((run) => (
              <RunCard key={run.run} run={run} />
            ))}
          </ul>
        )}
        {runs !== null && runs.length > some && (
          <Button onClick={() => setSome(some + SOME)}>Show more of {formatCount(runs.length, 'run')}</Button>
        )}
        {list !== null && list.older > 0 && (
          <p class="muted">{formatCount(list.older, 'older run is', 'older runs are')} not listed.</p>
        )}
      </div>
    </Page>
  );
}

/** Explains how to start a run, which is not possible here. */
function HowToStart() {
  const current = session.value;
  if (current.state !== 'open') return null;
  return (
    <section aria-label="Start a run">
      <p class="small">To start a run of a folder, a file or a job file, type in a terminal:</p>
      <Command text={current.session.start_command} />
    </section>
  );
}

/** Moves the focus from run to run. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.run-list h2 a')];
  const now = links.findIndex((link) => link.closest('li')?.contains(document.activeElement));
  links[now === -1 ? 0 : Math.max(0, Math.min(links.length - 1, now + by))]?.focus();
}
