import { relative, resolve } from 'node:path';
import { readPolicyFile } from '../../job-file/policy-file.ts';
import { LONG_AUDIO, LONG_TEXT, MAX_FRAMES } from '../../run-config.ts';
import { choice, single, wholeNumber } from '../kinds.ts';
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
  help: `most frames or pages of one image that are judged, evenly spaced, 1 to ${MAX_FRAMES}`,
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

export const LONG_TEXT_MODE = setting({
  flag: '--long-text',
  key: 'longText',
  help: "judge texts beyond the guard's context in windows (`windows`), or end them as errors (`error`)",
  kind: choice('mode', LONG_TEXT),
  default: 'windows',
  example: 'error',
});
