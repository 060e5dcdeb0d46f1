import { parseAge } from '../../values/quantities.ts';
import { anyText, single, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';

export const OLDER_THAN = setting({
  flag: '--older-than',
  help: 'purge only runs that were finished at least this long ago',
  kind: single('age', parseAge),
  unset: 'required, unless runs are named',
  example: '30d',
});

export const DRY_RUN = setting({
  flag: '--dry-run',
  help: 'delete nothing, and show what would be deleted',
  kind: SWITCH,
  default: 'false',
  shown: 'it is deleted',
});

export const RELEASE = setting({
  flag: '--release',
  help: 'release the run: it can be purged again',
  kind: SWITCH,
  default: 'false',
  shown: 'it is held',
});

export const HOLD_REASON = setting({
  flag: '--reason',
  help: 'why the run is held; shown when a purge leaves it',
  kind: anyText('text'),
  unset: 'none',
  example: '"case 4711"',
});
