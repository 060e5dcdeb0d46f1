import type { ItemError } from '../../domain/item-error.ts';
import { CRASHES } from '../process/crashes.ts';
import type { Excess } from '../process/time-limit.ts';
import type { ProcessEnd } from './ffmpeg-process.ts';
import { REFUSALS } from './refusals.ts';

/** With this status ffmpeg says that a signal stopped it before it was finished. */
const STOPPED_BY_SIGNAL = 255;

/** How a shell or the loader says that a program is there but cannot be run: a library of it is missing, say. */
const CANNOT_RUN: ReadonlySet<number> = new Set([126, 127]);

/** The refusal that the end of ffmpeg or ffprobe amounts to; null when it did its work. */
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

/** The refusal of a clip whose decoder was ended because it took too much of something. */
export function refusalByExcess(excess: Excess): ItemError {
  return excess === 'processor' ? REFUSALS.tooCostly : REFUSALS.tooSlow;
}
