import { notJudgedByCause } from '../../domain/words/not-judged.ts';
import { mappedCategoryNames, type Policy } from '../../domain/policy.ts';
import { escapeText, quoteName } from '../../domain/text/escape-text.ts';
import { plural } from '../../domain/text/plural.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { isSkipReason } from '../../ingest/discover/walk/skipped-files.ts';
import { INSTALL_FFMPEG } from '../../normalize/ffmpeg-process.ts';
import { categoryTable } from './category-table.ts';
import { canaryLine } from './canary-counts.ts';
import { OTHER_FILES } from '../../domain/words/file-kinds.ts';
import { gateText } from './gates.ts';
import { listed, number, oneRow } from './listed.ts';
import type { StreamCounts } from './stream-counts.ts';
import { trialText } from './trial.ts';
import type { Summary } from './summary.ts';

/** Hex digits of a fingerprint to show: enough to tell two models apart. */
const SHOWN_DIGITS = 16;

/** Maximum characters of a path to show. */
const MAX_PATH = 60;

/** Maximum rules of a policy to show. */
const MAX_RULES = 4;

/** Maximum runs to name as origins of reused verdicts. */
const MAX_RUNS = 3;

/** Next steps after a run, besides its counts. Built where it is known how the user started us. */
export interface NextSteps {
  /** Review progress of the flagged items, which the run itself does not know; null if there is nothing to say. */
  readonly reviews: string | null;
  /** Commands that would judge more, each in the line after one that gives its purpose. */
  readonly commands: readonly string[];
  /** The last lines: what to open, and the location of the run. */
  readonly last: readonly string[];
}

/** Maximum lines of a section. */
const MAX_LINES = 12;

/**
 * The summary as text, in sections of a fixed order: what was judged and what was not, what to type to judge more, and
 * what no guard was asked about; then decisions and categories; then the guards and the chain head; finally, what to
 * open.
 */
export function summaryLines(
  summary: Summary,
  { reviews, commands, last }: NextSteps = NOTHING_NEXT,
): string[] {
  const open = summary.items - summary.verdicts;
  const categories = categoryTable(summary);
  const sections = [
    [
      `Judged ${number(summary.verdicts)} of ${number(summary.items)} ${plural(summary.items, 'item')}; ${number(open)} not judged`,
      ...headlines(summary),
    ],
    notJudged(summary),
    commands.flatMap((command) => command.split('\n')),
    notRead(summary),
    notAsked(summary),
    [...decisions(summary), ...(reviews === null ? [] : [reviews])],
    categories,
    policyNotes(summary),
    gates(summary),
    [...streams(summary), ...conversations(summary)],
    guards(summary),
    provenance(summary),
    [`Chain head: ${summary.chain_head}`, ...time(summary)],
    last,
  ];
  return sections.flatMap((lines) => {
    // It limits its own length, and ends with a line about all its rows.
    if (lines === categories) return lines;
    const more = lines.length - MAX_LINES + 1;
    return more > 1 ? [...lines.slice(0, -more), `… ${number(more)} more (${RUN_FILES.summary})`] : lines;
  });
}

const NOTHING_NEXT: NextSteps = { reviews: null, commands: [], last: [] };

/** Content that no guard was asked about. */
function notAsked({ run: own, reused, reused_from }: Summary): string[] {
  if (reused === 0) return [];
  const from = reused_from.map(({ run, fingerprint, verdicts }) => {
    const model = fingerprint === null ? '' : ` (${shortened(fingerprint)})`;
    const name = run === own ? 'this run' : run === null ? 'other runs' : escapeText(run, MAX_PATH);
    return `${number(verdicts)} from ${name}${model}`;
  });
  return [`${number(reused)} ${plural(reused, 'verdict')} reused: ${listed(from, MAX_RUNS).join(', ')}`];
}

function headlines(summary: Summary): string[] {
  const lines = summary.trial === null ? [] : [trialText(summary.trial)];
  const fingerprints = new Set(summary.guards.map(({ fingerprint }) => fingerprint));
  const models = [...fingerprints].filter((fingerprint) => fingerprint !== null).length;
  if (models > 1)
    lines.push(`ATTENTION: ${models} different models judged in this run; see the guards below`);
  if (models > 0 && fingerprints.has(null))
    lines.push('ATTENTION: some verdicts do not name the model that judged; see the guards below');
  if (summary.status === 'incomplete') {
    lines.push('INCOMPLETE: not finished; items without a verdict must not be taken for clean');
  }
  if (summary.status === 'finished' && summary.items === 0) {
    const why = summary.trial === null ? 'the sources hold no items' : 'the trial chose no records';
    lines.push(`EMPTY: ${why}, so nothing was judged`);
  }
  return lines;
}

/** Maximum causes to show, the most frequent first. */
const MAX_CAUSES = 6;

function notJudged(summary: Summary): string[] {
  const causes = notJudgedByCause(summary).sort((a, b) => b.items - a.items);
  const row = (items: number, text: string): string => `${number(items).padStart(9)}  ${text}`;
  const rows = causes.map(({ items, code, brief }) => row(items, `${brief} (${code})`));
  const unsupported = Object.entries(summary.unsupported_files).sort(([, a], [, b]) => b - a);
  const shownRows = rows.length > MAX_CAUSES ? rows.slice(0, MAX_CAUSES - 1) : rows;
  const others = causes.slice(shownRows.length);
  if (others.length > 0) {
    const items = others.reduce((sum, cause) => sum + cause.items, 0);
    shownRows.push(row(items, `for ${others.length} other reasons: ${RUN_FILES.report}`));
  }
  const open = summary.items - summary.verdicts - summary.errors;
  if (open > 0) shownRows.unshift(row(open, 'no outcome yet: resume the run'));
  if (unsupported.length > 0) {
    const kinds = unsupported.map(([name, count]) =>
      name === OTHER_FILES ? `others (${number(count)})` : `.${name} (${number(count)})`,
    );
    shownRows.push(oneRow('Types that are not read: ', kinds));
  }
  if (summary.without_ffmpeg > 0) shownRows.push(`Install ffmpeg: ${INSTALL_FFMPEG}`);
  return shownRows;
}

/** Maximum columns of a table to show. */
const MAX_COLUMNS = 3;

/** Parts of the sources that are not items. */
function notRead(summary: Summary): string[] {
  const { tables: all = [], empty_sources: empty, skipped } = summary;
  const lines: string[] = [];
  const columns = all.flatMap(({ not_judged: names, path, files }) => {
    if (names.length === 0) return [];
    const moreNames = names.length > MAX_COLUMNS ? ` and ${number(names.length - MAX_COLUMNS)} more` : '';
    const moreFiles = files > 1 ? ` and ${number(files - 1)} more` : '';
    return [
      `${names.slice(0, MAX_COLUMNS).join(', ')}${moreNames} in ${quoteName(path, MAX_PATH)}${moreFiles}`,
    ];
  });
  const byContent = all
    .filter(({ chosen_by }) => chosen_by === 'content')
    .map(({ judged, path }) => `${judged.slice(0, MAX_COLUMNS).join(', ')} in ${quoteName(path, MAX_PATH)}`);
  if (byContent.length > 0)
    lines.push(oneRow('Judged as text by what they hold: ', byContent, { separator: '; ' }));
  if (columns.length > 0) lines.push(oneRow('Columns not judged: ', columns, { separator: '; ' }));
  const tables = [
    ['First row taken as data (--header yes): ', summary.without_header ?? []],
    ['Header fitted to the rows (--header no): ', summary.fitted_headers],
  ] as const;
  for (const [label, paths] of tables) {
    const names = paths.map((path) => quoteName(path, MAX_PATH));
    if (names.length > 0) lines.push(oneRow(label, names));
  }
  if (empty.count > 0) {
    const names = empty.paths.map((path) => quoteName(path, MAX_PATH));
    lines.push(oneRow('Files without items: ', names, { total: empty.count }));
  }
  const left = Object.entries(skipped).map(
    ([reason, count]) => `${escapeText(reason, MAX_PATH)} (${number(count)})`,
  );
  if (left.length > 0) {
    const where = Object.keys(skipped).some(isSkipReason) ? `, listed in ${RUN_FILES.skipped}` : '';
    lines.push(oneRow(`Left out${where}: `, left));
  }
  return lines;
}

function decisions(summary: Summary): string[] {
  const { allow, review, block } = summary.by_decision;
  const lines = [`Decisions: ${number(block)} block, ${number(review)} review, ${number(allow)} allow`];
  if (summary.restricted > 0) {
    const items = `${number(summary.restricted)} ${plural(summary.restricted, 'item')}`;
    lines.push(`Restricted: ${items} that may show children in sexual contexts: ${RUN_FILES.restricted}`);
  }
  return lines;
}

function policyNotes(summary: Summary): string[] {
  const lines: string[] = [];
  if (summary.partial > 0) {
    const items = `${number(summary.partial)} ${plural(summary.partial, 'item')}`;
    lines.push(`Judged only in part: ${items}; coverage in the record says how far`);
  }
  lines.push(`Policy: ${policyText(summary.policy)}`);
  if (summary.guard_flagged !== summary.flagged) {
    lines.push(`Flagged by the guard itself: ${number(summary.guard_flagged)}`);
  }
  if (summary.thresholds_unapplied > 0) {
    const verdicts = `${number(summary.thresholds_unapplied)} ${plural(summary.thresholds_unapplied, 'verdict')}`;
    lines.push(`Thresholds: ${verdicts} had no score for a category with a threshold`);
  }
  return lines;
}

function policyText({ thresholds, allowFlagged, allowPartial, taxonomy = {} }: Policy): string {
  const counted = mappedCategoryNames(taxonomy).map(
    (name) => `${escapeText(name)} counts as ${taxonomy[name]!}`,
  );
  const lifted = [
    ...(allowFlagged ? ['allowFlagged'] : []),
    ...(allowPartial ? ['allowPartial'] : []),
    ...listed(counted, MAX_RULES),
  ];
  if (thresholds === null) return ['what the guard flags is blocked', ...lifted].join('; ');
  const rules = Object.entries(thresholds).map(([name, levels]) => {
    const { review, block } = levels ?? {};
    const from = [
      ...(review === undefined ? [] : [`review from ${review}`]),
      ...(block === undefined ? [] : [`block from ${block}`]),
    ];
    return `${name} ${from.length === 0 ? 'without thresholds' : from.join(', ')}`;
  });
  return [...listed(rules, MAX_RULES), ...lifted].join('; ');
}

function gates(summary: Summary): string[] {
  const of = summary.trial === null ? '' : ', of this trial only';
  const tripped = summary.gates.toSorted((a, b) => Number(b.tripped) - Number(a.tripped));
  return tripped.map((gate) => `Gate ${gateText(gate)}${of}`);
}

function streams({ streams: counts }: Summary): string[] {
  if (counts === undefined) return [];
  const all = `${number(counts.generations)} ${plural(counts.generations, 'generation')}`;
  const raised = ({ generations, median, p90 }: StreamCounts['flag']): string =>
    median === null || p90 === null
      ? `0 of ${all}`
      : `${number(generations)} of ${all}, half of them within the first ${percent(median)} of their text, nine in ten within ${percent(p90)}`;
  return [
    `Flagged while streaming: ${raised(counts.flag)}`,
    `Caution while streaming: ${raised(counts.caution)}`,
  ];
}

function conversations({ cache, judged_as_whole: whole }: Summary): string[] {
  const lines: string[] = [];
  if (cache !== undefined) {
    const share = (hits: number, misses: number): string =>
      hits + misses === 0 ? '0%' : percent(hits / (hits + misses));
    lines.push(
      `KV cache of the guards: ${share(cache.message_hits, cache.message_misses)} of messages and ${share(cache.token_hits, cache.token_misses)} of tokens reused; ${number(cache.l1_evictions)} L1 and ${number(cache.l2_evictions)} L2 ${plural(cache.l2_evictions, 'eviction')}`,
    );
  }
  const { conversations: count, earlier_turns: turns } = whole;
  if (count > 0) {
    lines.push(
      `${number(count)} ${plural(count, 'conversation')} judged as a whole; ${plural(count, 'its', 'their')} ${number(turns)} earlier ${plural(turns, 'turn')}: --audit every-turn`,
    );
  }
  return lines;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1).replace(/\.0$/, '')}%`;
}

function guards(summary: Summary): string[] {
  const kinds = new Set(summary.guards.map(({ kind }) => kind));
  return [
    ...(kinds.has('embedded') ? ['This is the demonstration guard: "allow" does not mean harmless.'] : []),
    ...summary.guards.map(({ endpoint, fingerprint, verdicts }) => {
      const model = fingerprint === null ? 'no fingerprint' : shortened(fingerprint);
      return `Judged by ${escapeText(endpoint, MAX_PATH)}, ${model} (${number(verdicts)} ${plural(verdicts, 'verdict')})`;
    }),
  ];
}

/** The guards and models behind the verdicts. */
function provenance(summary: Summary): string[] {
  const lines: string[] = [];
  const nameless = (['websocket', 'rest'] as const).filter((kind) =>
    summary.guards.some((guard) => guard.kind === kind),
  );
  for (const kind of nameless) {
    const over = kind === 'rest' ? 'Over REST' : 'Over a WebSocket';
    lines.push(`${over} a guard does not report its model: those verdicts have no fingerprint.`);
  }
  if (summary.guards.some(({ kind }) => kind === 'openai')) {
    lines.push(
      'An OpenAI-compatible server declares which model it runs and proves nothing: those verdicts have no fingerprint.',
    );
    for (const id of summary.binary_scores ?? [])
      lines.push(
        `The scores of ${shortened(id)} are 0 or 1: its server gives no probabilities, so thresholds between do not matter.`,
      );
  }
  if (summary.verdicts > 0) {
    const reusedAll = summary.verdicts === summary.reused;
    lines.push(canaryLine(summary.canaries, reusedAll));
  }
  return lines;
}

function time(summary: Summary): string[] {
  return summary.seconds > 0 ? [`Time: ${duration(summary.seconds)}${rate(summary)}`] : [];
}

/** Shortens a fingerprint to `sha256:86e3ed3799e1d595…`; the record has it in full. */
function shortened(fingerprint: string): string {
  const [algorithm, digits] = fingerprint.split(':');
  const isLong = digits !== undefined && digits.length > SHOWN_DIGITS;
  return escapeText(isLong ? `${algorithm!}:${digits.slice(0, SHOWN_DIGITS)}…` : fingerprint, MAX_PATH);
}

function rate({ items, seconds }: Summary): string {
  return `, ${number(Math.round(items / seconds))} items/s`;
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = `${Math.floor(seconds % 60)} s`;
  return minutes < 60 ? `${minutes} min ${rest}` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
