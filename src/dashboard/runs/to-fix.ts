import { isRetryable } from '../../domain/item-error.ts';
import { formatCliCommand, shellWord } from '../../domain/text/escape-text.ts';
import { fileAdvice } from '../../domain/words/file-kinds.ts';
import { closedSummary } from '../../record/summary/finished-summary.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { openRun } from '../../runs/open-run.ts';
import type { FileToFix, ToFix } from '../api/runs.ts';
import type { RunIndex } from '../index/run-index.ts';

/** Files that are named. */
const MAX_FILES = 100;

/** The files of a run of which nothing was judged, and what would have them judged. */
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
    const { source, error } = lines.get(seq)!;
    if (error === null) return [];
    const { path } = source;
    const at = absolute.get(path) ?? path;
    const needs =
      error.reason === 'no_text_column' ? 'column' : error.code === 'INVALID_ENCODING' ? 'encoding' : null;
    const encoding = needs === 'encoding' ? encodingOf(path, summary) : null;
    const flags = { column: ['--text-column', 'NAME'], encoding: ['--encoding', encoding ?? 'LABEL'] };
    const rerun = needs && formatCliCommand('enqueue', [at, ...flags[needs]].map(shellWord), process.env);
    const retry = isRetryable(error) ? formatCliCommand('retry', [shellWord(dir)], process.env) : null;
    return [
      {
        ...{ path, absolute: at, seq, items: own, code: error.code, why: error.message },
        ...{ advice: fileAdvice(path, error), command: rerun ?? retry, needs, encoding },
        columns: needs === 'column' ? columnsOf(path, summary) : [],
      },
    ];
  });
  return { files, items, listed };
}

function encodingOf(path: string, summary: Summary | null): string | null {
  return summary?.other_encodings?.find(({ paths }) => paths.includes(path))?.encoding ?? null;
}

/** Names of columns, as they are typed. A label without quotes stands for a name that may be content. */
function columnsOf(path: string, summary: Summary | null): string[] {
  const labels = summary?.tables?.find((table) => table.path === path)?.not_judged ?? [];
  return labels.flatMap((label) => (label.startsWith('"') ? [JSON.parse(label) as string] : []));
}
