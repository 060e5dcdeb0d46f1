import { parseOutputFolder } from '../../values/output-folder.ts';
import { path, single, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';
import { DEFAULT_RUNS_FOLDER } from './output.ts';

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
  help: 'reuse of verdicts on content that the same model has judged before',
  flagNote: 'this flag turns it off, and every item is judged',
  keyNote: '`false`: every item is judged',
  kind: SWITCH,
  default: 'true',
  shown: 'verdicts are reused',
});

export const REHASH = setting({
  flag: '--rehash',
  key: 'rehash',
  help: 'read and hash every image and clip, also where size, times and inode say that it has not changed',
  kind: SWITCH,
  default: 'false',
  shown: 'unchanged files are not read',
});

/** Whose verdicts `gc` keeps. */
export const KEPT_RUNS = setting({
  flag: '--out',
  help: 'folder with the runs whose verdicts are kept',
  kind: path('dir'),
  default: DEFAULT_RUNS_FOLDER,
  example: '/data/runs',
});

/** What `gc` cleans. */
export const CLEANED_STORE = setting({
  flag: '--store',
  help: 'folder of the verdict store',
  kind: single('dir', (text, { folder }) => parseOutputFolder(text, folder)),
  unset: '`.store` in the folder of the runs',
  example: '/data/verdicts',
});
