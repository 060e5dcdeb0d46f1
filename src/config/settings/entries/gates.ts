import { parseGate, type Gates } from '../../values/gate.ts';
import { list, RATE, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';

/** Replaces the gates of a job file that it names. */
export const FAIL_IF = setting({
  flag: '--fail-if',
  help: 'status 3 when flagged-rate or error-rate is above a share of 0 to 1',
  kind: list<Partial<Gates>>('gate=rate', 'a gate', (texts) => Object.fromEntries(texts.map(parseGate))),
  unset: 'no gate',
  example: 'flagged-rate=0.01',
});

export const FLAGGED_RATE = setting({
  key: 'failIf.flaggedRate',
  help: 'status 3 when a larger share of verdicts is review or block, 0 to 1',
  keyNote: 'as a flag: `--fail-if flagged-rate=0.01`',
  kind: RATE,
  unset: 'no gate',
});

export const ERROR_RATE = setting({
  key: 'failIf.errorRate',
  help: 'status 3 when a larger share of items could not be judged, 0 to 1',
  keyNote: 'as a flag: `--fail-if error-rate=0.01`',
  kind: RATE,
  unset: 'no gate',
});

export const ALLOW_ERRORS = setting({
  flag: '--allow-errors',
  key: 'allowErrors',
  help: 'status 0 although some items were not judged',
  kind: SWITCH,
  default: 'false',
  shown: 'status 5',
});

export const ALLOW_EMPTY = setting({
  flag: '--allow-empty',
  key: 'allowEmpty',
  help: 'status 0 although the sources hold no item',
  kind: SWITCH,
  default: 'false',
  shown: 'status 5',
});
