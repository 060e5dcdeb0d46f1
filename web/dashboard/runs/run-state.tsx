import type { RunState } from '../../../src/dashboard/api/runs.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import type { IconName } from '../ui/icon.tsx';

const STATES: Readonly<
  Record<RunState, { readonly words: string; readonly icon: IconName; readonly tone: Tone }>
> = {
  running: { words: 'Running', icon: 'running', tone: 'accent' },
  paused: { words: 'Paused', icon: 'paused', tone: 'neutral' },
  stopped: { words: 'Stopped, not finished', icon: 'stopped', tone: 'review' },
  cancelled: { words: 'Cancelled', icon: 'cancelled', tone: 'neutral' },
  finished: { words: 'Finished', icon: 'check', tone: 'allow' },
  unreadable: { words: 'Cannot be read', icon: 'alert', tone: 'block' },
};

export function RunStateBadge({ state }: { readonly state: RunState }) {
  const { words, icon, tone } = STATES[state];
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  );
}
