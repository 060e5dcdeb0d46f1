import type { KeptRun, ShownRun } from '../../dashboard/runs/kept-runs.ts';
import { escapeText, quoteName } from '../../domain/text/escape-text.ts';
import { number } from '../../record/summary/listed.ts';
import { mebibytes, table } from './table.ts';

const HEADER = ['run', 'state', 'started', 'items', 'flagged', 'not judged', 'size'];

/**
 * Formats the runs of a folder as a table; below its row, each run's problem, legal hold and time of purging are shown.
 */
export function listLines(runs: readonly KeptRun[], older: number): string[] {
  if (runs.length === 0) return ['no runs'];
  const rows = runs.map(({ run, state, started, items, flagged, not_judged, bytes }) => [
    ...[quoteName(run), state, started === null ? '-' : shortTime(started)],
    ...(state === 'unreadable' ? ['-', '-', '-'] : [items, flagged, not_judged].map(number)),
    mebibytes(bytes),
  ]);
  const [header, ...lines] = table([HEADER, ...rows]);
  const more = older === 0 ? [] : [`${number(older)} older runs are not listed`];
  return [header!, ...lines.flatMap((line, index) => [line, ...notesOf(runs[index]!)]), ...more];
}

/** A run in a few lines. */
export function showLines(run: ShownRun): string[] {
  const { dir, state, started, items, flagged, not_judged, bytes, config, summary } = run;
  const lines = [
    `${quoteName(run.run)}: ${state}`,
    ...notesOf(run),
    `  directory: ${quoteName(dir)}, ${mebibytes(bytes)}`,
  ];
  if (config !== null) {
    const guards = config.guards.length === 0 ? ['those of the workers'] : config.guards;
    lines.push(
      `  sources: ${config.sources.map(({ path }) => quoteName(path)).join(', ')}`,
      `  guards: ${guards.map((guard) => escapeText(guard)).join(', ')}`,
    );
  }
  if (started !== null) lines.push(`  started: ${started}`);
  if (state !== 'unreadable') {
    lines.push(`  items: ${number(items)}; flagged: ${number(flagged)}; not judged: ${number(not_judged)}`);
  }
  if (summary !== null) {
    const { review, block } = summary.by_decision;
    lines.push(
      `  decisions: ${number(review)} to review, ${number(block)} to block; passes: ${summary.pass}`,
      `  chain head: ${summary.chain_head}`,
    );
  }
  return lines;
}

function notesOf({ problem, held }: KeptRun): string[] {
  const notes = problem === null ? [] : [`  ${escapeText(problem)}`];
  if (held !== null) {
    const why = held.reason === null ? '' : `: ${escapeText(held.reason)}`;
    notes.push(`  held by ${quoteName(held.by)} since ${escapeText(held.at.slice(0, 10))}${why}`);
  }
  return notes;
}

/** Shortens an ISO 8601 time to `2026-11-21 02:00`. */
function shortTime(time: string): string {
  return escapeText(time.slice(0, 16).replace('T', ' '));
}
