import { isRetryable } from '../../domain/item-error.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { formatCliCommand, shellWord } from '../../domain/text/escape-text.ts';
import { fileAdvice } from '../../domain/words/file-kinds.ts';
import { closedSummary } from '../../record/summary/finished-summary.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { openRun } from '../../runs/open-run.ts';
import type { FileToFix, ToFix } from '../api/runs.ts';
import type { RunIndex } from '../index/run-index.ts';

/** Maximum files listed. */
const MAX_FILES = 100;

/** Lists the files of a run without any verdict, each with the command that judges it. */
export async function toFix(index: RunIndex, dir: string, signal: AbortSignal): Promise<ToFix> {
  const { files, items, first } = await index.unjudged(MAX_FILES, signal);
  if (first.length === 0) return { files, items, listed: [] };
  const lines = new Map(
    (await index.lines.read(first.map(({ seq }) => seq))).map((line) => [line.seq, line]),
  );
  const summary = await closedSummary(dir);
  const paths = new Set([...lines.values()].map(({ source }) => source.path));
  const { sources } = await openRun(dir, signal);
  const absolute = new Map(
    sources.filter(({ path }) => paths.has(path)).map((source) => [source.path, source.absolute]),
  );
  const listed = first.flatMap(({ seq, items: own }): FileToFix[] => {
    const { source, part, error } = lines.get(seq)!;
    if (error === null) return [];
    const { path } = source;
    const { code, reason = null, message } = error;
    const why = { path, seq, items: own, code, reason, why: message };
    return [
      { ...why, ...nextStep(error, { path, part, absolute: absolute.get(path) ?? path, dir, summary }) },
    ];
  });
  return { files, items, listed };
}

interface FileInRun {
  readonly path: string;
  /** Name of the part inside the file. */
  readonly part: string | null;
  readonly absolute: string;
  readonly dir: string;
  readonly summary: Summary | null;
}

function nextStep(
  error: NonNullable<OutcomeLine['error']>,
  { path, part, absolute, dir, summary }: FileInRun,
): Pick<FileToFix, 'advice' | 'columns' | 'command'> {
  const advice = error.reason === 'file_type' ? fileAdvice(part ?? path, error) : null;
  const enqueue = (...flags: string[]): string => cliCommand('enqueue', absolute, ...flags);
  if (error.reason === 'no_text_column')
    return { advice, columns: columnsOf(path, summary), command: enqueue('--text-column', 'NAME') };
  if (error.code === 'INVALID_ENCODING')
    return { advice, columns: [], command: enqueue('--encoding', likelyEncoding(path, summary) ?? 'LABEL') };
  return { advice, columns: [], command: isRetryable(error) ? cliCommand('retry', dir) : null };
}

/** Formats one of our own commands for a shell. */
export function cliCommand(name: string, ...words: string[]): string {
  return formatCliCommand(name, words.map(shellWord), process.env);
}

function likelyEncoding(path: string, summary: Summary | null): string | null {
  return summary?.other_encodings?.find(({ paths }) => paths.includes(path))?.encoding ?? null;
}

/** Names of columns as typed. Labels without quotes are skipped: they replace names that may be content. */
function columnsOf(path: string, summary: Summary | null): string[] {
  const labels = summary?.tables?.find((table) => table.path === path)?.not_judged ?? [];
  return labels.flatMap((label) => (label.startsWith('"') ? [JSON.parse(label) as string] : []));
}
