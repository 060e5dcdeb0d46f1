import type { ItemError } from '../../domain/item-error.ts';
import { CRASHES } from '../../confinement/crashes.ts';
import type { Excess } from '../../confinement/time-limit.ts';
import type { ProcessEnd } from './ffmpeg-process.ts';
import { REFUSALS } from './refusals.ts';

/** Exit status of ffmpeg after it was stopped by a signal. */
const STOPPED_BY_SIGNAL = 255;

/** Exit statuses of a shell or the loader for a program that cannot be executed, because a library is missing, say. */
const CANNOT_RUN: ReadonlySet<number> = new Set([126, 127]);

/** The refusal that follows from how ffmpeg or ffprobe ended; null on success. */
export function refusalByEnd(end: ProcessEnd): ItemError | null {
  switch (end.how) {
    case 'missing':
      return REFUSALS.ffmpegMissing;
    case 'no room':
      return REFUSALS.decoderNotStarted;
    case 'signalled':
      return CRASHES.has(end.signal) ? REFUSALS.crashing : REFUSALS.decoderKilled;
    case 'exited':
      if (end.code === 0) return null;
      if (CANNOT_RUN.has(end.code)) return REFUSALS.ffmpegMissing;
      return end.code === STOPPED_BY_SIGNAL ? REFUSALS.decoderKilled : REFUSALS.corrupt;
  }
}

/** The refusal of a clip whose decoder exceeded a time limit. */
export function refusalByExcess(excess: Excess): ItemError {
  return excess === 'processor' ? REFUSALS.tooCostly : REFUSALS.tooSlow;
}
