import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DEFAULT_RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { ownCommand } from '../../domain/text/own-command.ts';
import { plural } from '../../domain/text/plural.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { CommandContext } from '../context.ts';
import { typedPath } from './resume-command.ts';

/** The files that list what was flagged, the one that opens best first. */
const FLAGGED = ['flagged.xlsx', 'flagged.csv'];

/** What to open after a run, as one line; `runDir` is absolute. */
export function openNext(
  { rows }: Pick<Summary, 'rows'>,
  runDir: string,
  ui: Pick<CommandContext, 'cwd' | 'env'>,
): string {
  const listed = FLAGGED.find((name) => (rows[name] ?? 0) > 0);
  const out = dirname(runDir);
  const isDefault = out === resolve(ui.cwd, DEFAULT_RUNS_FOLDER);
  const serve = ownCommand('serve', isDefault ? [] : ['--out', typedPath(out, ui)], ui.env);
  const opened = [
    ...(existsSync(join(runDir, 'report.html')) ? ['report.html'] : []),
    ...(listed === undefined ? [] : [`${listed} (${counted(rows[listed]!)})`]),
  ];
  const named = opened.length > 0 ? `${opened.join(', ')}; ` : '';
  return `Open next: ${named}in a browser: ${serve}`;
}

function counted(items: number): string {
  return `${items.toLocaleString('en-US')} ${plural(items, 'item')}`;
}

/** What to do after the first run in a folder. */
export const AFTER_FIRST_RUN = 'First run here? Next: your thresholds (--policy) and your guard (--guard).';
