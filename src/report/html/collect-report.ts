import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRetryable, type ItemCode } from '../../domain/item-error.ts';
import { ownCommand } from '../../domain/text/own-command.ts';
import { shellWord } from '../../domain/text/shell-word.ts';
import type { RunConfig } from '../../config/run-config.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import { assertRunDirectory } from '../../record/assert-run-directory.ts';
import { readRecord } from '../../record/read-record.ts';
import { Restrictions } from '../../record/restricted/restrictions.ts';
import { canaryLine, countCanaries } from '../../record/summary/canary-counts.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { gateText } from '../../record/summary/gates.ts';
import { missingFlags } from '../../record/summary/missing-flags.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { trialText } from '../../record/summary/trial.ts';
import { comparePrevious } from './compare-previous.ts';
import type { CanaryRow, ErrorRow, GuardRow, ReportData } from './report-data.ts';
import { reportItem, restrictedItem } from './report-item.ts';
import { readFinished, readUnfinished } from './run-outcomes.ts';
import { sourceFiles } from './source-files.ts';
import { ReportTally } from './tallies/report-tally.ts';

/** Guards, models and checks that are listed; those with the most verdicts. */
const MAX_LISTED = 100;

interface CollectOptions {
  readonly signal: AbortSignal;
}

/**
 * Reads what a report shows from a run directory, in one pass over its outcomes: from the final files of a finished run,
 * which are checked by their hashes, else from the committed part of its log. Memory does not depend on the size of the
 * run. Writes nothing but temporary files. Failure('usage') for a path that is no run directory, Failure('internal') for a
 * record that does not hold.
 */
export async function collectReport(dir: string, { signal }: CollectOptions): Promise<ReportData> {
  const runDir = resolve(dir);
  await assertRunDirectory(runDir);
  const { run, config } = await readRecord(runDir);
  const tally = new ReportTally(await Restrictions.read(runDir, { run, policy: config.policy }, signal));
  const isFinished = (await finishedSummary(runDir)) !== null;
  const facts = await (isFinished ? readFinished : readUnfinished)(runDir, (line) => tally.add(line), signal);
  const { record, summary, canaryChecks } = facts;
  const listed = [tally.severe, tally.uncertain, tally.slow].flatMap((top) => top.lines());
  const examples = [...tally.examples.values()].flat();
  const paths = new Set([...listed, ...examples].map(({ source }) => source.path));
  const files = await sourceFiles(runDir, paths, signal);
  const items = (lines: typeof listed): ReportData['severe'] => lines.map((line) => reportItem(line, files));
  const errors = Object.entries(summary.by_error_code).map(([name, count]): ErrorRow => {
    const code = name as ItemCode;
    return {
      ...{ code, items: count, retryable: isRetryable({ code }) },
      examples: items(tally.examples.get(code) ?? []),
    };
  });
  return {
    run: record.run,
    name: record.config.name,
    version: record.tool.version,
    dir: runDir,
    createdAt: record.created_at,
    finishedAt: facts.finishedAt,
    madeAt: new Date().toISOString(),
    manifestSha256: facts.manifestSha256,
    damagedAt: facts.damagedAt,
    summary,
    trial: summary.trial === null ? null : trialText(summary.trial),
    again: againCommand(record.config, summary),
    gates: summary.gates.map((gate) => ({ text: gateText(gate), tripped: gate.tripped })),
    canaries: canaryLine(countCanaries(record.config.canaries, canaryChecks), isAllReused(summary)),
    canaryChecks: canaryChecks.slice(0, MAX_LISTED).map(canaryRow),
    categories: tally.categories.rows(),
    corpora: tally.groups.corpora(),
    modalities: tally.groups.modalities(),
    scores: tally.scores.spread(record.config.policy),
    errors: errors.sort((a, b) => b.items - a.items),
    coverage: tally.coverage.rows(),
    guards: guardRows(summary, tally),
    fingerprints: facts.fingerprints.slice(0, MAX_LISTED),
    rate: tally.rate.result(),
    severe: items(tally.severe.lines().slice()),
    uncertain: items(tally.uncertain.lines().slice()),
    slow: items(tally.slow.lines().slice()),
    files: summary.files.map((name) => ({ name, url: pathToFileURL(join(runDir, name)).href })),
    restricted: tally.restricted.map(({ line, by }) => restrictedItem(line, by)),
    previous: await comparePrevious(runDir, record, signal),
  };
}

function againCommand(config: RunConfig, summary: Summary): string | null {
  const { flags } = missingFlags(config, summary);
  if (flags.length === 0) return null;
  const words = [...config.sources.map(({ given }) => given), ...flags];
  return ownCommand('enqueue', words.map(shellWord), process.env);
}

function guardRows({ guards }: Summary, tally: ReportTally): GuardRow[] {
  return guards
    .toSorted((a, b) => b.verdicts - a.verdicts)
    .slice(0, MAX_LISTED)
    .map((guard) => ({ ...guard, latency: tally.latencies.latencyOf(guard.endpoint, guard.fingerprint) }));
}

function isAllReused({ verdicts, reused, copies }: Summary): boolean {
  return verdicts <= reused + copies && reused > 0;
}

function canaryRow({ endpoint, fingerprint, modality, at, answers }: CanaryCheck): CanaryRow {
  const asked = answers.filter(({ passed }) => passed !== null);
  return {
    ...{ endpoint, fingerprint, modality, at },
    passed: asked.filter(({ passed }) => passed).length,
    answers: asked.length,
    skipped: answers.length - asked.length,
  };
}
