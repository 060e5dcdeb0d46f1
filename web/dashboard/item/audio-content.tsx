import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ItemContent } from '../../../src/dashboard/api/items.ts';
import { useShortcuts } from '../app/shortcuts.ts';
import { Button } from '../ui/button.tsx';
import { setSpeed, speed, SPEEDS } from './reveals.ts';
import { displayText } from './text-content.tsx';
import { useMedia } from './use-media.ts';

interface AudioContentProps {
  readonly run: string;
  readonly seq: number;
  readonly content: Extract<ItemContent, { kind: 'audio' }>;
}

/** Fraction of full volume, low enough not to startle anyone. */
const FIRST_VOLUME = 0.4;

const HEIGHT = 60;

function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** The outline of an audio clip's loudness, mirrored at the middle. */
function outline(peaks: readonly number[]): string {
  const half = HEIGHT / 2;
  const top = peaks.map((peak, index) => `L${index} ${half - Math.max(peak, 0.02) * half}`);
  const bottom = peaks.map((peak, index) => `L${index} ${half + Math.max(peak, 0.02) * half}`).reverse();
  return `M0 ${half}${top.join('')}${bottom.join('')}Z`;
}

/** An audio clip next to its transcript: the waveform at once, the sound only on request, and muted until unmuted. */
export function AudioContent({ run, seq, content }: AudioContentProps) {
  const begin = content.worst_at ?? 0;
  const wanted = useSignal(false);
  const playing = useSignal(false);
  const muted = useSignal(true);
  const volume = useSignal(FIRST_VOLUME);
  const at = useSignal(0);
  const player = useRef<HTMLAudioElement>(null);
  const media = useMedia(run, seq, wanted.value);

  useEffect(() => {
    const audio = player.current;
    if (media.kind !== 'ready' || audio === null) return;
    audio.volume = volume.value;
    audio.currentTime = at.value;
    void audio.play().catch(() => (playing.value = false));
  }, [media.kind]);

  useEffect(() => {
    if (player.current === null) return;
    player.current.defaultPlaybackRate = speed.value;
    player.current.playbackRate = speed.value;
  }, [media.kind, speed.value]);

  const toggle = (): void => {
    const audio = player.current;
    if (audio === null) wanted.value = true;
    else if (audio.paused) void audio.play().catch(() => (playing.value = false));
    else audio.pause();
  };
  const seek = (seconds: number): void => {
    at.value = seconds;
    if (player.current !== null) player.current.currentTime = seconds;
  };
  const change = (by: number): void => {
    const next = SPEEDS[SPEEDS.indexOf(speed.value) + by];
    if (next !== undefined) setSpeed(next);
  };
  useShortcuts('Clip', [
    { keys: ['p'], does: 'Play, or pause', run: toggle },
    { keys: ['<'], does: 'Slower', run: () => change(-1) },
    { keys: ['>'], does: 'Faster', run: () => change(1) },
  ]);
  const pieces = Math.max(content.peaks.length, 1);
  const toX = (seconds: number): number => (seconds / Math.max(content.seconds, 0.001)) * pieces;

  return (
    <div class="audio-content">
      <div class="clip">
        <svg
          viewBox={`0 0 ${pieces} ${HEIGHT}`}
          preserveAspectRatio="none"
          class="waveform"
          aria-hidden="true"
        >
          <path d={outline(content.peaks)} />
          <line class="now" x1={toX(at.value)} x2={toX(at.value)} y1="0" y2={HEIGHT} />
        </svg>
        <input
          type="range"
          min={0}
          max={content.seconds}
          step={0.1}
          value={at.value}
          aria-label="Position"
          aria-valuetext={`${clock(begin + at.value)} of ${clock(begin + content.seconds)}`}
          onInput={(event) => seek(event.currentTarget.valueAsNumber)}
        />
        <div class="player">
          <Button
            icon={playing.value ? 'paused' : 'running'}
            onClick={toggle}
            busy={media.kind === 'loading'}
          >
            {playing.value ? 'Pause' : 'Play'} <kbd>p</kbd>
          </Button>
          <label>
            Speed <kbd>&lt;</kbd> <kbd>&gt;</kbd>{' '}
            <select
              class="speed"
              aria-label="Speed"
              value={speed.value}
              onChange={(event) => setSpeed(Number(event.currentTarget.value))}
            >
              {SPEEDS.map((one) => (
                <option key={one} value={one}>
                  {one} ×
                </option>
              ))}
            </select>
          </label>
          <span class="hidden" role="status">
            Speed {speed.value}
          </span>
          <label>
            <input
              type="checkbox"
              checked={!muted.value}
              onChange={(event) => (muted.value = !event.currentTarget.checked)}
            />{' '}
            Sound
          </label>
          <label class="volume">
            Volume
            <input
              type="range"
              min={0}
              max={1}
              step={0.05}
              value={volume.value}
              disabled={muted.value}
              aria-valuetext={`${Math.round(volume.value * 100)}%`}
              onInput={(event) => {
                volume.value = event.currentTarget.valueAsNumber;
                if (player.current !== null) player.current.volume = volume.value;
              }}
            />
          </label>
          <span>
            {clock(begin + at.value)} of {clock(begin + content.seconds)}
          </span>
        </div>
        {content.worst_at !== null && (
          <p class="hint">
            This is the part that decided, from {clock(begin)} to {clock(begin + content.seconds)} of a clip
            of {clock(content.clip_seconds)}.
            {content.transcript !== null && ' The transcript is of the whole clip.'}
          </p>
        )}
        {media.kind === 'failed' && <p role="alert">The clip could not be loaded: {media.message}</p>}
        {media.kind === 'ready' && (
          <audio
            ref={player}
            src={media.url}
            muted={muted.value}
            onPlay={() => (playing.value = true)}
            onPause={() => (playing.value = false)}
            onTimeUpdate={(event) => (at.value = event.currentTarget.currentTime)}
          />
        )}
      </div>
      {content.transcript !== null && (
        <div class="transcript">
          <h4>Transcript</h4>
          <div class="text-box" role="region" aria-label="Transcript" tabIndex={0} data-scrolls>
            {displayText(content.transcript)}
          </div>
        </div>
      )}
    </div>
  );
}
