import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DEFAULT_RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { isRetryable, type ItemCode } from '../../domain/item-error.ts';
import { formatCliCommand, shellWord } from '../../domain/text/escape-text.ts';
import { plural } from '../../domain/text/plural.ts';
import { missingFlags } from '../../record/summary/missing-flags.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { RunResult } from '../../runs/run-end.ts';
import type { CommandContext, FeedUi } from '../context.ts';
import { toTypedPath } from './resume-command.ts';

/** Files that list the flagged items, the most convenient one first. */
const FLAGGED = ['flagged.xlsx', 'flagged.csv'];

/** One line that names the files to open after a run; `runDir` is absolute. */
export function openNext(
  { rows }: Pick<Summary, 'rows'>,
  runDir: string,
  ui: Pick<CommandContext, 'cwd' | 'env'>,
): string {
  const listed = FLAGGED.find((name) => (rows[name] ?? 0) > 0);
  const out = dirname(runDir);
  const isDefault = out === resolve(ui.cwd, DEFAULT_RUNS_FOLDER);
  const serve = formatCliCommand('serve', isDefault ? [] : ['--out', toTypedPath(out, ui)], ui.env);
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

/** Next steps after the first run in a folder. */
export const AFTER_FIRST_RUN = 'First run here? Next: your thresholds (--policy) and your guard (--guard).';

/** Maximum files named in a command. */
const MAX_FILES = 4;

/** Maximum commands for files of other encodings. */
const MAX_APART = 2;

type Ui = Pick<FeedUi, 'typed' | 'cwd' | 'env'>;

/** Commands to copy that would judge more of a finished run's sources, each below a line that gives its purpose. */
export function nextCommands({ run, summary }: Pick<RunResult, 'run' | 'summary'>, ui: Ui): string[] {
  const { flags, hasPlaceholder, apart } = missingFlags(run.record.config, summary);
  const lines: string[] = [];
  const add = (why: string, command: string): void => void lines.push(`${why}\n  ${command}`);
  const words = flags.map(shellWord);
  if (words.length > 0) {
    const why = hasPlaceholder
      ? 'To judge more (NAME: the column with the text; repeat the flag for others):'
      : 'To judge more:';
    add(why, formatCliCommand('enqueue', [...typedWords(run, ui), ...words], ui.env));
  }
  const files = new Map(run.sources.map(({ path, absolute }) => [path, absolute]));
  for (const { paths, encoding } of apart.slice(0, MAX_APART)) {
    const named = paths.slice(0, MAX_FILES).map((path) => toTypedPath(files.get(path) ?? path, ui));
    const more = paths.length > named.length ? ' …' : '';
    const those = `${paths.length} ${plural(paths.length, 'file is', 'files are')}`;
    add(
      `${those} in another encoding (${encoding}):`,
      formatCliCommand('enqueue', [...named, '--encoding', encoding], ui.env) + more,
    );
  }
  const retryable = Object.entries(summary.by_error_code)
    .filter(([code]) => isRetryable({ code: code as ItemCode }))
    .reduce((sum, [, count]) => sum + count, 0);
  if (retryable > 0) {
    const items = `${retryable.toLocaleString('en-US')} ${plural(retryable, 'item')}`;
    add(`To try ${items} again:`, formatCliCommand('retry', [toTypedPath(run.dir, ui)], ui.env));
  }
  return lines;
}

/** The command that was typed for the run, or its equivalent if another command finished the run. */
function typedWords({ record }: Pick<RunResult['run'], 'record'>, { typed }: Ui): string[] {
  // A password must not be repeated on a terminal.
  if (typed !== null && !typed.some((word) => /:\/\/[^/\s]*@/.test(word))) return typed.map(shellWord);
  return record.config.sources.map(({ given }) => shellWord(given));
}
