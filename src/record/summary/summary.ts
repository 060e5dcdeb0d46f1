import type { RunRecord } from '../../config/run-config.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import type { JudgedColumns, OtherEncoding } from '../../config/judged-columns.ts';
import { type Fingerprint, isDeclared } from '../../domain/fingerprint.ts';
import type { Policy } from '../../domain/policy.ts';
import type { EmptySources } from '../corpus-accounts.ts';
import type { Counts } from '../counts.ts';
import type { TrialCounts } from './trial.ts';
import { countCanaries, type CanaryCounts } from './canary-counts.ts';
import { gateResults, type GateResult } from './gates.ts';

/** summary.json: the result of a run. */
export interface Summary extends Counts {
  readonly schema: 1;
  readonly run: string;
  /** Absolute path of the run directory when the run finished. */
  readonly dir: string;
  /** Finished: every item that was read has an outcome. */
  readonly status: 'finished' | 'incomplete';
  /** Which part of the corpora was judged; null: everything. */
  readonly trial: TrialCounts | null;
  /** The policy that made the decisions. */
  readonly policy: Policy;
  /** All gates of the run; none while it is incomplete. */
  readonly gates: readonly GateResult[];
  /** How long the run was worked on: `workingSeconds`. */
  readonly seconds: number;
  readonly pass: number;
  /** Files that were found and left out, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Paths of tables that were read with the width of their rows, which is not their header's. */
  readonly fitted_headers: readonly string[];
  /** Which columns of the tables were judged; absent in a run without tables. */
  readonly tables?: readonly JudgedColumns[];
  /** Paths of tables whose first row was taken as data; absent: none. */
  readonly without_header?: readonly string[];
  /** Files that are not UTF-8; absent: none. */
  readonly other_encodings?: readonly OtherEncoding[];
  /** Files without items; none while the first pass is incomplete. */
  readonly empty_sources: EmptySources;
  readonly canaries: CanaryCounts;
  /** Ids of the models among `guards` that declare to give scores of 0 and 1 only; absent: none. */
  readonly binary_scores?: readonly string[];
  readonly chain_head: string;
  /** Names of the final files. */
  readonly files: readonly string[];
  /** Rows, or lines, of those that consist of outcomes, without headers. */
  readonly rows: Readonly<Record<string, number>>;
}

export interface SummaryInput {
  readonly record: RunRecord;
  readonly dir: string;
  readonly status: Summary['status'];
  readonly trial: TrialCounts | null;
  readonly counts: Counts;
  readonly emptySources: EmptySources;
  readonly seconds: number;
  readonly pass: number;
  readonly canaries: readonly CanaryCheck[];
  readonly fingerprints: ReadonlyMap<string, Fingerprint>;
  readonly chainHead: string;
  readonly files: readonly string[];
  readonly rows: Readonly<Record<string, number>>;
}

export function makeSummary(input: SummaryInput): Summary {
  const { record, counts } = input;
  const binary = binaryModels(counts, input.fingerprints);
  const { thresholds_unapplied, without_ffmpeg, without_text_column, ...main } = counts;
  return {
    schema: 1,
    run: record.run,
    dir: input.dir,
    status: input.status,
    trial: input.trial,
    policy: record.config.policy,
    gates: input.status === 'finished' ? gateResults(record.config.failIf, counts) : [],
    ...main,
    seconds: input.seconds,
    pass: input.pass,
    thresholds_unapplied,
    without_ffmpeg,
    without_text_column,
    skipped: record.skipped,
    fitted_headers: record.fitted_headers,
    ...(record.tables && { tables: record.tables }),
    ...(record.without_header && { without_header: record.without_header }),
    ...(record.other_encodings && { other_encodings: record.other_encodings }),
    empty_sources: input.emptySources,
    canaries: countCanaries(record.config.canaries, input.canaries),
    ...(binary.length > 0 && { binary_scores: binary }),
    chain_head: input.chainHead,
    files: input.files,
    rows: input.rows,
  };
}

function binaryModels({ guards }: Counts, fingerprints: SummaryInput['fingerprints']): string[] {
  const models = new Set(guards.flatMap(({ fingerprint }) => fingerprint ?? []));
  return [...models].filter((id) => isDeclared(id) && fingerprints.get(id)?.artifacts.scores === 'binary');
}

/** The text of summary.json. */
export function summaryJson(summary: Summary): string {
  return `${JSON.stringify(summary, null, 2)}\n`;
}
