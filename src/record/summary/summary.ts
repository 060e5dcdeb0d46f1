import type { RunRecord } from '../../config/run-config.ts';
import type { EmptySources } from '../corpus-accounts.ts';
import type { Counts } from '../tally.ts';

/** summary.json: what became of a run. */
export interface Summary extends Counts {
  readonly run: string;
  /** The run directory, absolute, where it was when the run finished. */
  readonly dir: string;
  /** Finished: every item that was read has an outcome. */
  readonly status: 'finished' | 'incomplete';
  /** In which the run was worked on, up to its last commit. */
  readonly seconds: number;
  readonly pass: number;
  /** What was found but left out, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Files that were read and hold no item; none while the run is incomplete. */
  readonly empty_sources: EmptySources;
  readonly chain_head: string;
  /** Outcomes that had been committed, were found damaged, and were judged again; the manifest says where. */
  readonly lost_to_damage: number;
  /** Final files, by name. */
  readonly files: readonly string[];
}

export interface SummaryInput {
  readonly record: RunRecord;
  readonly dir: string;
  readonly status: Summary['status'];
  readonly counts: Counts;
  readonly emptySources: EmptySources;
  readonly seconds: number;
  readonly pass: number;
  readonly chainHead: string;
  readonly lostToDamage: number;
  readonly files: readonly string[];
}

export function makeSummary(input: SummaryInput): Summary {
  const { record, counts } = input;
  const { thresholds_unapplied, without_ffmpeg, without_text_column, ...main } = counts;
  return {
    run: record.run,
    dir: input.dir,
    status: input.status,
    ...main,
    seconds: input.seconds,
    pass: input.pass,
    thresholds_unapplied,
    without_ffmpeg,
    without_text_column,
    skipped: record.skipped,
    empty_sources: input.emptySources,
    chain_head: input.chainHead,
    lost_to_damage: input.lostToDamage,
    files: input.files,
  };
}

/** The text of summary.json. */
export function summaryJson(summary: Summary): string {
  return `${JSON.stringify(summary, null, 2)}\n`;
}
