import type { JobFile } from './job-file.ts';
import { mistake, oneOf, quoted } from '../mistake.ts';
import { DEFAULT_JUDGING, LONG_AUDIO, LONG_TEXT, MAX_FRAMES, type Judging } from '../run-config.ts';

/** Flags that say how items are judged that do not go to the guard in one piece; absent ones were not given. */
export interface JudgingFlags {
  readonly frames?: string;
  readonly longAudio?: string;
  readonly longText?: string;
}

/** Flags over the job file over the defaults. Failure('usage') names a flag whose value is none. */
export function judgingOf(flags: JudgingFlags, file: JobFile | null): Judging {
  const job = file?.job;
  const { frames, longAudio, longText } = flags;
  return {
    frames: frames === undefined ? (job?.frames ?? DEFAULT_JUDGING.frames) : framesOf(frames),
    longAudio:
      longAudio === undefined
        ? (job?.longAudio ?? DEFAULT_JUDGING.longAudio)
        : oneOf(LONG_AUDIO, { value: longAudio, place: '--long-audio' }),
    longText:
      longText === undefined
        ? (job?.longText ?? DEFAULT_JUDGING.longText)
        : oneOf(LONG_TEXT, { value: longText, place: '--long-text' }),
  };
}

function framesOf(value: string): number {
  const frames = /^\d{1,2}$/.test(value) ? Number(value) : 0;
  if (frames < 1 || frames > MAX_FRAMES) {
    throw mistake('--frames', `expected a whole number of 1 to ${MAX_FRAMES}, found ${quoted(value)}`);
  }
  return frames;
}
