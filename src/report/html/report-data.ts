import type { COVERAGE_UNITS } from '../../domain/coverage.ts';
import type { Decision, OutcomeLine } from '../../domain/outcome.ts';
import type { CategoryName } from '../../domain/taxonomy.ts';
import type { NotJudged } from '../../domain/words/not-judged.ts';
import type { ReviewProgress } from '../../record/reviews/review.ts';
import type { Summary } from '../../record/summary/summary.ts';

/** Everything that a report shows. Its size is bounded, whatever the run's. Strings from the record are untrusted. */
export interface ReportData {
  readonly run: string;
  /** Name given to the run by the job or the user. */
  readonly name: string;
  /** Version of guardsweep that created the run. */
  readonly version: string;
  /** Absolute path of the run directory. */
  readonly dir: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly finishedAt: string;
  readonly madeAt: string;
  /** SHA-256 of manifest.json. */
  readonly manifestSha256: string;
  readonly summary: Summary;
  /** The part of the corpora that was judged, as a sentence; null if everything was. */
  readonly trial: string | null;
  readonly commands: ReportCommands;
  /** The gates, as sentences. */
  readonly gates: readonly { readonly text: string; readonly tripped: boolean }[];
  /** The canaries, as a sentence. */
  readonly canaries: string;
  /** In taxonomy order, then other categories, then `null` for no category. Each verdict is in one row. */
  readonly categories: readonly CategoryRow[];
  /** In the order of the sources; at most 100; the last one may stand for all others. */
  readonly corpora: readonly GroupRow[];
  readonly modalities: readonly GroupRow[];
  readonly scores: ScoreSpread;
  /** Unjudged items by cause, the most frequent first. */
  readonly notJudged: readonly CauseRow[];
  readonly coverage: readonly CoverageRow[];
  readonly guards: readonly GuardRow[];
  readonly fingerprints: readonly {
    readonly id: string;
    readonly artifacts: Readonly<Record<string, string>>;
  }[];
  /** Judged items over time, oldest first, without those with a reused verdict. */
  readonly rate: RateOverTime | null;
  /** Highest decision, then highest score first. Like `slow`, without restricted items and repeated content. */
  readonly severe: readonly ReportItem[];
  /** Longest latency first. */
  readonly slow: readonly ReportItem[];
  readonly previous: PreviousRun | null;
  /** The decisions of people in the dashboard. */
  readonly reviews: ReviewProgress;
  /** The final files, with `file:` URLs. */
  readonly files: readonly { readonly name: string; readonly url: string }[];
}

/** Commands that work in any folder. */
export interface ReportCommands {
  readonly resume: string;
  readonly retry: string;
  readonly serve: string;
  readonly verify: string;
  /** Judges more of the sources; null if no flag would help. */
  readonly again: string | null;
}

/**
 * Verdicts that are review or block, or that the guard flagged, by their main category: the most probable flagged one.
 */
export interface CategoryRow {
  /** Null for verdicts without a flagged category. */
  readonly category: string | null;
  readonly block: number;
  readonly review: number;
  /** Verdicts flagged by the guard and allowed by the policy. */
  readonly allow: number;
  /** Verdicts with this category among the flagged ones, even if it is not the main one. */
  readonly any: number;
}

/** Items of a corpus or a modality: `items = allow + review + block + errors`, plus those without an outcome yet. */
export interface GroupRow {
  /** Null for the row of all other groups. */
  readonly name: string | null;
  readonly items: number;
  readonly allow: number;
  readonly review: number;
  readonly block: number;
  readonly errors: number;
  /** Verdicts that cover only a part of the item. */
  readonly partial: number;
}

/** Verdicts by score, in equal bins from 0 to 1. */
export interface ScoreSpread {
  readonly decisions: Readonly<Record<Decision, readonly number[]>>;
  /** Only categories with scores; guards give scores only for what they flag. */
  readonly categories: readonly {
    readonly category: CategoryName;
    readonly bins: readonly number[];
    readonly review: number | null;
    readonly block: number | null;
  }[];
  /** Thresholds on the overall score; null if there is none. */
  readonly review: number | null;
  readonly block: number | null;
}

export interface CauseRow extends NotJudged {
  /** Files with the most of its items first; at most 20. */
  readonly files: readonly FileRow[];
}

export interface FileRow {
  /** The first item of the file that was not judged for this cause. */
  readonly item: ReportItem;
  /** All its items that were not judged for this cause. */
  readonly items: number;
  /** Advice on this file; null if there is no more to say than about its cause. */
  readonly advice: string | null;
}

export interface CoverageRow {
  readonly unit: (typeof COVERAGE_UNITS)[number];
  /** Verdicts. */
  readonly items: number;
  readonly partial: number;
  /** Verdicts on items that were judged in several windows or frames. */
  readonly inParts: number;
  /** Sums in the unit. */
  readonly judged: number;
  readonly total: number;
}

export interface GuardRow {
  readonly endpoint: string;
  readonly kind: Summary['guards'][number]['kind'];
  readonly fingerprint: string | null;
  readonly verdicts: number;
  /** Latency of this run's verdicts, accurate to about 10%; null if all were reused. */
  readonly latency: { readonly p50: number; readonly p95: number; readonly max: number } | null;
}

export interface RateOverTime {
  /** Start of the first bin, in milliseconds since 1970. */
  readonly from: number;
  /** Width of a bin, in seconds. */
  readonly seconds: number;
  readonly bins: readonly { readonly verdicts: number; readonly flagged: number; readonly errors: number }[];
}

/** An item that the report names. */
export interface ReportItem {
  readonly seq: number;
  readonly id: string;
  readonly path: string;
  readonly row: number | null;
  readonly part: string | null;
  readonly turn: number | null;
  readonly modality: OutcomeLine['modality'];
  readonly decision: Decision | null;
  readonly score: number | null;
  /** Flagged categories, most probable first. */
  readonly categories: readonly string[];
  readonly latencyMs: number | null;
  /** Message in our own words; null for a verdict. */
  readonly error: string | null;
  /** `file:` URL of its file; null if unknown. */
  readonly file: string | null;
}

/** The latest finished run of the same name over the same sources before this one, or a run that the reader chose. */
export interface PreviousRun {
  readonly run: string;
  readonly createdAt: string;
  readonly isChosen?: true;
  readonly counts: PreviousCounts;
  /** Null if the runs are too large to compare item by item. */
  readonly changes: PreviousChanges | null;
}

export type PreviousCounts = Pick<
  Summary,
  'items' | 'verdicts' | 'errors' | 'flagged' | 'by_decision' | 'by_category' | 'without_category' | 'partial'
> & { readonly fingerprints: readonly string[] };

/** Changes item by item, paired by content. */
export interface PreviousChanges {
  readonly pairs: number;
  readonly onlyBefore: number;
  readonly onlyNow: number;
  readonly meanShift: number | null;
  /** Items whose decision changed, including to or from an error. */
  readonly decisions: readonly { readonly before: string; readonly now: string; readonly items: number }[];
}
