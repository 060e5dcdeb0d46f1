import { CATEGORY_KEYS } from '../../../domain/taxonomy.ts';
import { byCategory } from '../../values/by-category.ts';
import { parseCategoryGates, parseGates, type GivenGates } from '../../values/gate.ts';
import { list, RATE, SWITCH } from '../kinds.ts';
import type { Kind } from '../setting.ts';
import { setting } from '../setting.ts';

/** Gates from flags, which override gates of the same name in a job file. */
export const FAIL_IF = setting({
  flag: '--fail-if',
  help: 'status 3 when flagged-rate, blocked-rate, error-rate, uncovered-rate or the rate of a category such as hate is above a share from 0 to 1',
  kind: list<GivenGates>('gate=rate', 'a gate', parseGates),
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

export const BLOCKED_RATE = setting({
  key: 'failIf.blockedRate',
  help: 'status 3 when a larger share of verdicts is block, 0 to 1',
  keyNote: 'as a flag: `--fail-if blocked-rate=0.01`',
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

export const UNCOVERED_RATE = setting({
  key: 'failIf.uncoveredRate',
  help: 'status 3 when a larger share of items was not judged, or only in part, 0 to 1',
  keyNote: 'as a flag: `--fail-if uncovered-rate=0.01`',
  kind: RATE,
  unset: 'no gate',
});

/** A mapping of categories to rates. */
const CATEGORY_RATES: Kind<ReturnType<typeof parseCategoryGates>> = {
  unit: 'mapping',
  isList: false,
  shape: byCategory(CATEGORY_KEYS, RATE.shape),
  parse: parseCategoryGates,
};

export const CATEGORY_GATES = setting({
  key: 'failIf.categories',
  help: 'status 3 when the guard flags a larger share of verdicts in a category, 0 to 1 by category, such as `{ hate: 0.01 }`',
  keyNote: 'as a flag: `--fail-if hate=0.01`',
  kind: CATEGORY_RATES,
  unset: 'no gate',
});

export const ALLOW_ERRORS = setting({
  flag: '--allow-errors',
  key: 'allowErrors',
  help: 'exit with status 0 even if some items were not judged',
  kind: SWITCH,
  default: 'false',
  shown: 'status 5',
});

export const ALLOW_EMPTY = setting({
  flag: '--allow-empty',
  key: 'allowEmpty',
  help: 'exit with status 0 even if the sources contain no items',
  kind: SWITCH,
  default: 'false',
  shown: 'status 5',
});
