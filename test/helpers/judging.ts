import type { Judging } from '../../src/config/run-config.ts';

/** How items are judged where no setting says otherwise. */
export const DEFAULT_JUDGING: Judging = {
  frames: 8,
  longAudio: 'windows',
  videoInterval: 5,
  videoFrames: 64,
};
