import { parseOutputFolder } from '../../values/output-folder.ts';
import { single, SWITCH } from '../kinds.ts';
import { setting } from '../setting.ts';

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
  help: 'whether content that the same model has judged before keeps that verdict',
  flagNote: 'with this flag, every item is judged',
  kind: SWITCH,
  default: 'true',
  shown: 'verdicts are reused',
});
