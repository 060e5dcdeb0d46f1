import { plural } from '../domain/text/plural.ts';
import type { RedisAddress } from '../config/values/redis-url.ts';
import type { Run } from './create-run.ts';
import type { RunView } from './progress.ts';
import type { UnheardClips } from './unheard-clips.ts';

/** Events during a run. */
export type RunEvent =
  /** An earlier run of the same sources is not finished. */
  | { readonly kind: 'unfinished'; readonly dir: string; readonly isRunning: boolean }
  /** A fleet judges the run; Redis is connected next. */
  | { readonly kind: 'fleet'; readonly redis: RedisAddress }
  | { readonly kind: 'created'; readonly run: Run }
  /** The run directory exists, and work on it begins. */
  | { readonly kind: 'begun'; readonly run: Run }
  /** There are items to judge. `view` may be called at any time from now on. */
  | { readonly kind: 'judging'; readonly view: () => RunView }
  /** A guard was not usable when the run began; the run uses the others. */
  | { readonly kind: 'guard-out'; readonly guard: string; readonly reason: string }
  /** The last ready guard became unavailable, or the first one is ready again. */
  | { readonly kind: 'guards'; readonly ready: boolean }
  | { readonly kind: 'unheard-clips'; readonly unheard: UnheardClips }
  /** Generations will not be judged, because no guard accepts moderation streams. */
  | { readonly kind: 'no-streams'; readonly guards: number }
  /** One line of text. */
  | { readonly kind: 'notice'; readonly line: string };

export type Report = (event: RunEvent) => void;

/** Formats `no-streams` as text. */
export function noStreamsLine(guards: number): string {
  const which = guards === 1 ? 'this guard takes' : 'these guards take';
  return `${which} no moderation streams: generations (--as-stream) will not be judged`;
}

/** Formats `unheard-clips` as text. */
export function unheardLine({ guards, clips, onlyWithoutTranscript }: UnheardClips): string {
  const which = clips === null ? 'clips' : `${clips.toLocaleString('en-US')} ${plural(clips, 'clip')}`;
  const whose = guards === 1 ? 'this guard has' : 'these guards have';
  const kind = onlyWithoutTranscript ? ' without a transcript' : '';
  return `${whose} no audio probe: ${which}${kind} will not be judged`;
}
