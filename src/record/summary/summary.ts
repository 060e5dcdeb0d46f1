import type { z } from 'zod';
import type { RunRecord } from '../../config/run-config.ts';
import type { CanaryCheck } from '../../domain/canary/canary-check.ts';
import { type Fingerprint, isDeclared } from '../../domain/fingerprint.ts';
import type { Policy } from '../../domain/policy.ts';
import type { Counts } from '../counts.ts';
import type { EmptySources } from '../corpus-accounts.ts';
import type { TrialCounts } from './trial.ts';
import { countCanaries } from './canary-counts.ts';
import { gateResults } from './gates.ts';
import type { Immutable, SUMMARY } from './summary-schema.ts';

/** summary.json: the result of a run. */
export type Summary = Immutable<Omit<z.infer<typeof SUMMARY>, 'policy'>> & { readonly policy: Policy };

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
