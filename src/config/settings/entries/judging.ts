import { relative, resolve } from 'node:path';
import { readPolicyFile } from '../../job-file/policy-file.ts';
import { LONG_AUDIO, MAX_FRAMES, MAX_VIDEO_FRAMES, MAX_VIDEO_INTERVAL } from '../../run-config.ts';
import { parseOutputFolder } from '../../values/paths.ts';
import { choice, single, SWITCH, wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';

export const POLICY = setting({
  flag: '--policy',
  key: 'policy',
  help: 'thresholds that turn scores into allow, review and block',
  keyNote: 'a policy file, relative to the job file',
  kind: single('file', ({ value, place }, { folder, cwd }) => {
    const absolute = resolve(folder, value);
    return readPolicyFile(absolute, { value: folder === cwd ? value : relative(cwd, absolute), place });
  }),
  unset: 'none: what the guard flags is blocked',
  example: 'jobs/policies/default.yaml',
});

export const FRAMES = setting({
  flag: '--frames',
  key: 'frames',
  help: `maximum number of frames or pages to judge per image, evenly spaced, 1 to ${MAX_FRAMES}`,
  kind: wholeNumber('count', 1, MAX_FRAMES),
  default: '8',
  example: '16',
});

export const LONG_AUDIO_MODE = setting({
  flag: '--long-audio',
  key: 'longAudio',
  help: 'judge clips over 300 s whole, in windows (`windows`), or their first 300 s only (`truncate`)',
  kind: choice('mode', LONG_AUDIO),
  default: 'windows',
  example: 'truncate',
});

export const VIDEO_INTERVAL = setting({
  flag: '--video-interval',
  key: 'videoInterval',
  help: `seconds of a video that one judged frame stands for, 1 to ${MAX_VIDEO_INTERVAL}`,
  kind: wholeNumber('seconds', 1, MAX_VIDEO_INTERVAL),
  default: '5',
  example: '2',
});

export const VIDEO_FRAMES = setting({
  flag: '--video-frames',
  key: 'videoFrames',
  help: `maximum number of frames to judge per video, evenly spaced, 1 to ${MAX_VIDEO_FRAMES}`,
  kind: wholeNumber('count', 1, MAX_VIDEO_FRAMES),
  default: '64',
  example: '200',
});

export const STORE = setting({
  flag: '--store',
  key: 'store',
  help: 'folder with the verdicts of earlier runs, on a disk of this machine; created if missing',
  keyNote: 'relative to the job file',
  kind: single('dir', (text, { folder }) => parseOutputFolder(text, folder)),
  unset: '`.store` beside the run directory',
  example: '/data/verdicts',
});

export const REUSE = setting({
  flag: '--no-reuse',
  key: 'reuse',
  help: 'reuse verdicts of the same model on the same content',
  flagHelp: 'judge every item, even if this model has already judged the same content',
  keyNote: '`false`: every item is judged',
  kind: SWITCH,
  default: 'true',
  shown: 'verdicts are reused',
});

export const TRUST_DECLARED = setting({
  flag: '--trust-declared',
  key: 'trustDeclared',
  help: 'reuse verdicts of guards that only declare which model they run, as long as they declare the same',
  kind: SWITCH,
  default: 'false',
  shown: 'they judge every item again',
});

/** The verdict store that `gc` shrinks. */
export const CLEANED_STORE = setting({
  flag: '--store',
  help: 'folder of the verdict store',
  kind: single('dir', (text, { folder }) => parseOutputFolder(text, folder)),
  unset: '`.store` in the folder of the runs',
  example: '/data/verdicts',
});
