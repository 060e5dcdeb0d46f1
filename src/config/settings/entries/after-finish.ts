import { headFileAt } from '../../values/head-file.ts';
import { commandOf } from '../../values/on-finish.ts';
import { list, single } from '../kinds.ts';
import { setting } from '../setting.ts';

export const HEAD_FILE = setting({
  flag: '--head-file',
  key: 'headFile',
  help: 'append the chain head of each finished pass to this file, which must be outside of run directories',
  keyNote: 'relative to the job file',
  kind: single('file', (text, { folder }) => headFileAt(text, folder)),
  unset: 'none',
  example: '/var/lib/audit/heads.jsonl',
});

export const ON_FINISH = setting({
  flag: '--on-finish',
  key: 'onFinish',
  help: 'run this program, without a shell, when the run is finished',
  flagNote: 'given again, its arguments',
  keyNote: 'a program, or a list of it and its arguments',
  kind: list<readonly string[]>('program', 'a program', (texts, { folder }) =>
    commandOf(
      texts.map(({ value }) => value),
      folder,
    ),
  ),
  unset: 'none',
  example: './note-head.sh',
});
