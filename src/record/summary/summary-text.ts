import { ITEM_ADVICE, REASON_ADVICE } from '../../domain/words/item-advice.ts';
import { isRetryable, ITEM_ERROR_REASONS, type ItemCode, mayHaveReason } from '../../domain/item-error.ts';
import { DECISIONS } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { shown, shownName } from '../../domain/text/shown.ts';
import { plural } from '../../domain/text/plural.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { isSkipReason } from '../../ingest/discover/walk/skipped-files.ts';
import { INSTALL_FFMPEG } from '../../normalize/audio/refusals.ts';
import { categoryTable } from './category-table.ts';
import { canaryLine } from './canary-counts.ts';
import { helpWith, OTHER_FILES } from './file-kinds.ts';
import { gateText } from './gates.ts';
import { listed, number } from './listed.ts';
import type { StreamCounts } from './stream-counts.ts';
import { trialText } from './trial.ts';
import type { Summary } from './summary.ts';
import type { WholeConversations } from '../tally.ts';
import type { ConversationCounts } from './conversation-counts.ts';

/** Hex digits of a fingerprint that are shown: enough to tell two models apart. */
const SHOWN_DIGITS = 16;

/** Files without items that are named, and characters of each. */
const MAX_PATHS = 3;
const MAX_PATH = 60;

/** Rules of a policy that are shown. */
const MAX_RULES = 4;

const MAX_FILES = 12;

/** Runs that are named whose verdicts were reused. */
const MAX_RUNS = 3;

/**
 * The summary for people, as lines: what was judged and what was not, and what no guard was asked about; then decisions and categories; then the guards,
 * the chain head and the files.
 */
export function summaryLines(summary: Summary): string[] {
  return [
    `Judged ${number(summary.verdicts)} of ${number(summary.items)} ${plural(summary.items, 'item')}; ${number(summary.items - summary.verdicts)} not judged`,
    ...headlines(summary),
    ...notJudged(summary),
    ...notAsked(summary),
    ...decisions(summary),
    ...gates(summary),
    ...streams(summary),
    ...conversations(summary),
    ...guards(summary),
    ...record(summary),
  ];
}

/** What no guard was asked about in this run. */
function notAsked({ reused, reused_from, copies }: Summary): string[] {
  const parts: string[] = [];
  if (reused > 0) {
    const from = reused_from.map(({ run, fingerprint, verdicts }) => {
      const model = fingerprint === null ? '' : ` (${shortened(fingerprint)})`;
      return `${number(verdicts)} from ${run === null ? 'other runs' : shown(run, MAX_PATH)}${model}`;
    });
    parts.push(`${number(reused)} ${plural(reused, 'verdict')} reused: ${listed(from, MAX_RUNS).join(', ')}`);
  }
  if (copies > 0) {
    parts.push(`${number(copies)} ${plural(copies, 'copy of another item', 'copies of other items')}`);
  }
  return parts.length > 0 ? [parts.join('; ')] : [];
}

function headlines(summary: Summary): string[] {
  const lines = summary.trial === null ? [] : [trialText(summary.trial)];
  const fingerprints = new Set(summary.guards.map(({ fingerprint }) => fingerprint));
  const models = [...fingerprints].filter((fingerprint) => fingerprint !== null).length;
  if (models > 1)
    lines.push(`ATTENTION: ${models} different models judged in this run; see the guards below`);
  if (models > 0 && fingerprints.has(null))
    lines.push('ATTENTION: some verdicts do not name the model that judged; see the guards below');
  if (summary.lost_to_damage > 0) {
    const lost = number(summary.lost_to_damage);
    const what = plural(summary.lost_to_damage, 'outcome was', 'outcomes were');
    lines.push(
      `ATTENTION: ${lost} recorded ${what} damaged and made again; ${RUN_FILES.manifest} says where`,
    );
  }
  if (summary.status === 'incomplete') {
    lines.push('INCOMPLETE: the run is not finished; items without a verdict must not be taken for clean');
  }
  if (summary.status === 'finished' && summary.items === 0) {
    const why = summary.trial === null ? 'the sources hold no items' : 'the trial chose no records';
    lines.push(`EMPTY: ${why}, so nothing was judged`);
  }
  return lines;
}

function notJudged(summary: Summary): string[] {
  const lines = listed(
    Object.entries(summary.by_error_code).map(([code, count]) => {
      const advice = adviceOf(summary, code as ItemCode, count);
      const retry = isRetryable({ code: code as ItemCode }) ? '; try these again with retry' : '';
      return `  ${number(count).padStart(9)}  ${code}: ${advice}${retry}`;
    }),
  );
  const kinds = Object.entries(summary.unsupported_files).sort(([, a], [, b]) => b - a);
  if (kinds.length > 0) lines.push('Files of unsupported types:');
  const helped = kinds.map(([extension, count]) => {
    const help = helpWith(extension);
    const name = extension === OTHER_FILES ? 'others' : `.${extension}`;
    return `  ${number(count).padStart(9)}  ${name}${help === null ? '' : `: ${help}`}`;
  });
  lines.push(...listed(helped));
  if (summary.without_text_column > 0) {
    const tables = summary.without_text_column;
    const of = tables === 1 ? '1 of the items above has' : `${number(tables)} of the items above have`;
    lines.push(`${of} no column that is recognised as text: name it with --text-column in a new run`);
  }
  if (summary.without_generation !== undefined) {
    const items = summary.without_generation;
    const of = `${number(items)} of the items above ${plural(items, 'has', 'have')}`;
    lines.push(`${of} no prompt with a response to replay: judge them in a run without --as-stream`);
  }
  if (summary.without_ffmpeg > 0) {
    const clips = `${number(summary.without_ffmpeg)} of the items above ${plural(summary.without_ffmpeg, 'is', 'are')} audio`;
    lines.push(`ffmpeg is missing: ${clips}; install it (${INSTALL_FFMPEG}), then retry`);
  }
  const open = summary.items - summary.verdicts - summary.errors;
  if (open > 0) lines.push(`  ${number(open).padStart(9)}  no outcome yet: resume the run`);
  lines.push(...emptySources(summary));
  const skipped = Object.entries(summary.skipped).map(
    ([reason, count]) => `${shown(reason, MAX_PATH)} (${number(count)})`,
  );
  const where = Object.keys(summary.skipped).some(isSkipReason) ? `; listed in ${RUN_FILES.skipped}` : '';
  if (skipped.length > 0) lines.push(`Left out: ${listed(skipped).join(', ')}${where}`);
  return lines;
}

/** What to do about the errors of a code: by their reasons, if all of them have one. */
function adviceOf({ by_error_reason = {} }: Summary, code: ItemCode, count: number): string {
  const reasons = ITEM_ERROR_REASONS.filter(
    (reason) => mayHaveReason(code, reason) && by_error_reason[reason],
  );
  const known = reasons.reduce((sum, reason) => sum + by_error_reason[reason]!, 0);
  if (known < count) return ITEM_ADVICE[code];
  if (reasons.length === 1) return REASON_ADVICE[reasons[0]!];
  return reasons.map((reason) => `${number(by_error_reason[reason]!)}: ${REASON_ADVICE[reason]}`).join('; ');
}

function emptySources({ empty_sources: { count, paths } }: Summary): string[] {
  if (count === 0) return [];
  const names = paths.slice(0, MAX_PATHS);
  const more = count > names.length ? ` and ${number(count - names.length)} more` : '';
  const named = names.map((path) => shownName(path, MAX_PATH)).join(', ');
  return [`Files without items: ${named}${more}`];
}

function decisions(summary: Summary): string[] {
  const { allow, review, block } = summary.by_decision;
  const lines = [
    `Decisions: ${number(block)} block, ${number(review)} review, ${number(allow)} allow`,
    `Policy: ${policyText(summary.policy)}`,
  ];
  if (summary.guard_flagged !== review + block) {
    lines.push(`Flagged by the guard itself: ${number(summary.guard_flagged)}`);
  }
  lines.push(...categoryTable(summary));
  if (summary.restricted > 0) {
    const count = number(summary.restricted);
    lines.push(
      `Restricted: ${count} ${plural(summary.restricted, 'item')} that may show children in sexual contexts; listed in ${RUN_FILES.restricted} and not in flagged.csv`,
    );
  }
  if (summary.partial > 0) {
    const count = number(summary.partial);
    lines.push(
      `Judged only in part: ${count} ${plural(summary.partial, 'item')}; coverage in the record says how far`,
    );
  }
  if (summary.thresholds_unapplied > 0) {
    const count = number(summary.thresholds_unapplied);
    lines.push(
      `Thresholds: ${count} ${plural(summary.thresholds_unapplied, 'verdict')} had no score for a category with a threshold`,
    );
  }
  return lines;
}

function policyText({ thresholds, allowFlagged, allowPartial }: Policy): string {
  const lifted = [...(allowFlagged ? ['allowFlagged'] : []), ...(allowPartial ? ['allowPartial'] : [])];
  if (thresholds === null) return ['what the guard flags is blocked', ...lifted].join('; ');
  const rules = Object.entries(thresholds).map(([name, { review, block }]) => {
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
  return summary.gates.map((gate) => `Gate ${gateText(gate)}${of}`);
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

function conversations({ conversations: counts, judged_as_whole: whole }: Summary): string[] {
  return [...atEveryTurn(counts), ...asWhole(whole)];
}

function asWhole({ conversations: count, earlier_turns: turns }: WholeConversations): string[] {
  if (count === 0) return [];
  return [
    `${number(count)} ${plural(count, 'conversation')} judged as a whole; ${plural(count, 'its', 'their')} ${number(turns)} earlier ${plural(turns, 'turn')}: --audit every-turn`,
  ];
}

function atEveryTurn(counts: ConversationCounts | undefined): string[] {
  if (counts === undefined) return [];
  const { by_decision, undecided, tipped_at, cache } = counts;
  const by = DECISIONS.toReversed().map((decision) => `${number(by_decision[decision])} ${decision}`);
  if (undecided > 0) by.push(`${number(undecided)} without a decision`);
  const all = `${number(counts.conversations)} ${plural(counts.conversations, 'conversation')}`;
  const tipped =
    tipped_at === null
      ? ''
      : `; half of the flagged ones by turn ${number(tipped_at.median)}, nine in ten by turn ${number(tipped_at.p90)} (${RUN_FILES.conversations} says which turn)`;
  const lines = [`Judged at every turn: ${all}: ${by.join(', ')}${tipped}`];
  if (cache !== null) {
    const share = (hits: number, misses: number): string =>
      hits + misses === 0 ? '0%' : percent(hits / (hits + misses));
    lines.push(
      `KV cache of the guards: ${share(cache.message_hits, cache.message_misses)} of messages and ${share(cache.token_hits, cache.token_misses)} of tokens reused; ${number(cache.l1_evictions)} L1 and ${number(cache.l2_evictions)} L2 ${plural(cache.l2_evictions, 'eviction')}`,
    );
  }
  return lines;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1).replace(/\.0$/, '')}%`;
}

function guards(summary: Summary): string[] {
  const lines = listed(
    summary.guards.map(({ endpoint, fingerprint, verdicts }) => {
      const model = fingerprint === null ? 'no fingerprint' : shortened(fingerprint);
      return `Judged by ${shown(endpoint, MAX_PATH)}, ${model} (${number(verdicts)} ${plural(verdicts, 'verdict')})`;
    }),
  );
  if (summary.guards.some(({ kind }) => kind === 'websocket')) {
    lines.push('Over a WebSocket a guard does not report its model: those verdicts have no fingerprint.');
  }
  if (summary.guards.some(({ kind }) => kind === 'rest')) {
    lines.push('Over REST a guard does not report its model: those verdicts have no fingerprint.');
  }
  if (summary.guards.some(({ kind }) => kind === 'embedded')) {
    lines.push('This is the demonstration guard: "allow" does not mean harmless.');
  }
  if (summary.verdicts > 0) {
    const reusedAll = summary.verdicts <= summary.reused + summary.copies && summary.reused > 0;
    lines.push(canaryLine(summary.canaries, reusedAll));
  }
  return lines;
}

function record(summary: Summary): string[] {
  return [
    ...(summary.seconds > 0 ? [`Time: ${duration(summary.seconds)}${rate(summary)}`] : []),
    `Chain head: ${summary.chain_head}`,
    ...(summary.files.length > 0 ? [`Files: ${listed(summary.files, MAX_FILES).join(', ')}`] : []),
  ];
}

/** `sha256:86e3ed3799e1d595…`; the record has it in full. */
function shortened(fingerprint: string): string {
  const [algorithm, digits] = fingerprint.split(':');
  const isLong = digits !== undefined && digits.length > SHOWN_DIGITS;
  return shown(isLong ? `${algorithm!}:${digits.slice(0, SHOWN_DIGITS)}…` : fingerprint, MAX_PATH);
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
