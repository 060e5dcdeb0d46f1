import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkedManifest } from '../../analysis/finished-verdicts.ts';
import { Database } from '../../analysis/database.ts';
import { progressIn } from '../../analysis/reviewed-items.ts';
import { ScoreColumns } from '../../analysis/score-columns.ts';
import { verdictsInTable } from '../../analysis/verdict-columns.ts';
import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { decodePath } from '../../domain/file-path.ts';
import { formatCliCommand, shellWord } from '../../domain/text/escape-text.ts';
import { fileAdvice } from '../../domain/words/file-kinds.ts';
import { type NotJudged, notJudgedByCause } from '../../domain/words/not-judged.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { readSources } from '../../ingest/sources/sources-file.ts';
import { assertRunDirectory } from '../../record/read-record.ts';
import { readRecord } from '../../record/read-record.ts';
import { readRunFile } from '../../record/read-run-file.ts';
import { Restrictions } from '../../record/restricted/restrictions.ts';
import { canaryLine, countCanaries } from '../../record/summary/canary-counts.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { gateText } from '../../record/summary/gates.ts';
import { missingFlags } from '../../record/summary/missing-flags.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { trialText } from '../../record/summary/trial.ts';
import { comparePrevious } from './compare-previous.ts';
import { type ListedItem, ListedItems } from './listed-items.ts';
import { OutcomeCounts } from './outcome-counts.ts';
import type { GuardRow, ReportCommands, ReportData, ReportItem } from './report-data.ts';

/** Maximum guards and models to list; those with the most verdicts. */
const MAX_LISTED = 100;

/** Each query takes one of Node's four threads; the remaining one reads files. */
const QUERIES_AT_ONCE = 3;

/** Files checked by hash before they are read; others are checked by size. */
const READ: ReadonlySet<string> = new Set([
  RUN_FILES.run,
  RUN_FILES.sources,
  RUN_FILES.summary,
  RUN_FILES.verdictsParquet,
]);

/**
 * Collects the data of a finished run for its report. Memory use does not depend on the size of the run.
 * Failure('usage') for a path that is not a finished run, Failure('internal') for a record that fails verification.
 */
export async function collectReport(dir: string, signal: AbortSignal): Promise<ReportData> {
  const runDir = resolve(dir);
  await assertRunDirectory(runDir);
  const summary = await finishedSummary(runDir);
  if (summary === null) {
    throw new Failure(
      'usage',
      'the run is not finished: guardsweep status shows it, guardsweep resume ends it',
    );
  }
  const manifest = await checkedManifest(runDir, READ, signal);
  const record = await readRecord(runDir);
  if (record.run !== manifest.run || summary.run !== manifest.run) {
    throw new Failure('internal', `${RUN_FILES.manifest} belongs to another run`);
  }
  const manifestBytes = await readRunFile(runDir, RUN_FILES.manifest);
  const { policy } = record.config;
  const restrictions = await Restrictions.read(runDir, { run: record.run, policy }, signal);
  const table = join(runDir, RUN_FILES.verdictsParquet);
  return Database.temporary(
    async (database) => {
      const scored = await ScoreColumns.of(database, table, [policy], signal);
      const outcomes = `SELECT *, ${scored.expressions.join(', ')} FROM ${verdictsInTable(table)}`;
      await database.load(`CREATE VIEW outcomes AS ${outcomes}`, [], signal);
      const counts = new OutcomeCounts(database, scored, signal);
      const listed = new ListedItems({ database, scored }, restrictions, signal);

      // For most reports, DuckDB takes longer to plan the queries than to answer them.
      const [severe, slow, categories, corpora, modalities, scores, coverage, latencyOf, rate] =
        await Promise.all([
          ...([listed.severe(), listed.slow()] as const),
          ...([counts.categories(), counts.corpora(), counts.modalities(), counts.scores(policy)] as const),
          ...([counts.coverage(), counts.latencies(), counts.rate()] as const),
        ]);
      const unjudged = summary.errors === 0 ? [] : await listed.unjudgedFiles();
      const named = [severe, slow, unjudged.map(({ first }) => first)].flat();
      const files = await sourceFiles(runDir, new Set(named.map(({ path }) => path)), signal);
      const linked = (items: readonly ListedItem[]): ReportItem[] =>
        items.map((item) => ({ ...item, file: files.get(item.path) ?? null }));
      return {
        run: record.run,
        name: record.config.name,
        version: record.tool.version,
        dir: runDir,
        createdAt: record.created_at,
        finishedAt: manifest.finished_at,
        madeAt: new Date().toISOString(),
        manifestSha256: createHash('sha256').update(manifestBytes).digest('hex'),
        summary,
        trial: summary.trial === null ? null : trialText(summary.trial),
        commands: commandsFor(runDir, record.config, missingFlags(record.config, summary).flags),
        gates: summary.gates.map((gate) => ({ text: gateText(gate), tripped: gate.tripped })),
        canaries: canaryLine(
          countCanaries(record.config.canaries, manifest.canaries.checks),
          isAllReused(summary),
        ),
        categories,
        corpora,
        modalities,
        scores,
        notJudged: notJudgedByCause(summary)
          .sort((a, b) => b.items - a.items)
          .map((cause) => ({
            ...cause,
            files: unjudged
              .filter(({ code, reason }) => code === cause.code && reason === cause.reason)
              .map(({ first, items }) => ({
                ...{ items, item: linked([first])[0]!, advice: adviceOn(first, cause, summary) },
              })),
          })),
        coverage,
        guards: guardRows(summary, latencyOf),
        fingerprints: manifest.fingerprints.slice(0, MAX_LISTED),
        rate,
        severe: linked(severe),
        slow: linked(slow),
        files: summary.files.map((name) => ({ name, url: pathToFileURL(join(runDir, name)).href })),
        previous: await comparePrevious(runDir, record, signal),
        reviews: await progressIn(database, { record, runDir, reviews: restrictions.reviews }, signal),
      };
    },
    { keep: 'in memory', connections: QUERIES_AT_ONCE },
  );
}

/** Advice on a file, if there is more to say than its cause already does. */
function adviceOn(
  { path, error }: ListedItem,
  { code, reason }: NotJudged,
  { other_encodings }: Summary,
): string | null {
  const encoding = other_encodings?.find(({ paths }) => paths.includes(path))?.encoding;
  if (code === 'INVALID_ENCODING' && encoding) return `most likely --encoding ${encoding}`;
  return reason === 'file_type' ? fileAdvice(path, { code, reason, message: error ?? '' }) : null;
}

function commandsFor(runDir: string, { sources }: RunConfig, flags: readonly string[]): ReportCommands {
  const command = (name: string, ...words: string[]): string =>
    formatCliCommand(name, words.map(shellWord), process.env);
  const out = ['--out', dirname(runDir)];
  return {
    resume: command('resume', runDir),
    retry: command('retry', runDir),
    serve: command('serve', ...out),
    verify: command('verify', runDir),
    again:
      flags.length === 0 ? null : command('enqueue', ...sources.map(({ path }) => path), ...flags, ...out),
  };
}

function guardRows(
  { guards }: Summary,
  latencyOf: Awaited<ReturnType<OutcomeCounts['latencies']>>,
): GuardRow[] {
  return guards
    .toSorted((a, b) => b.verdicts - a.verdicts)
    .slice(0, MAX_LISTED)
    .map((guard) => ({ ...guard, latency: latencyOf(guard.endpoint, guard.fingerprint) }));
}

function isAllReused({ verdicts, reused }: Summary): boolean {
  return verdicts === reused && reused > 0;
}

/**
 * `file:` URLs of sources, by their path in the run. A path that is not UTF-8 has none. Failure('internal') when the
 * list of sources is damaged.
 */
async function sourceFiles(
  runDir: string,
  paths: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (paths.size === 0) return found;
  for await (const batch of readSources(join(runDir, RUN_FILES.sources), { signal })) {
    for (const { path, absolute } of batch) {
      if (!paths.has(path)) continue;
      const named = decodePath(absolute);
      if (typeof named === 'string') found.set(path, pathToFileURL(named).href);
      if (found.size === paths.size) return found;
    }
  }
  return found;
}
