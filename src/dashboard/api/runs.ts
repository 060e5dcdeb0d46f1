import type { Policy } from '../../domain/policy.ts';
import type { Decision } from '../../domain/outcome.ts';
import type { SavedReview } from './reviews.ts';
import type { ItemCode, ItemErrorReason } from '../../domain/item-error.ts';
import type { NotJudged } from '../../domain/words/not-judged.ts';

/**
 * `stopped`: there is work left, but no feeder. `purged`: finished, and only its counts are kept. `unreadable`: the
 * directory cannot be read as a run.
 */
export type RunState = 'running' | 'paused' | 'stopped' | 'cancelled' | 'finished' | 'purged' | 'unreadable';

/** Requests that change the state of a run. */
export const RUN_ACTIONS = ['pause', 'continue', 'cancel'] as const;

export type RunAction = (typeof RUN_ACTIONS)[number];

/** A run as a row of the list of runs. */
export interface RunRow {
  /** Name of the run directory, which is its key in all paths of the API. */
  readonly run: string;
  /** Name given by the job or the user. */
  readonly name: string;
  /** ISO 8601, UTC; null if the directory cannot be read. */
  readonly created_at: string | null;
  readonly state: RunState;
  /** Why the run is stalled or cannot be read; null if nothing is wrong. */
  readonly problem: string | null;
  readonly actions: readonly RunAction[];
  readonly progress: RunProgress;
  /** Null until the run is finished. */
  readonly by_decision: Readonly<Record<Decision, number>> | null;
  /** Items without a verdict after all passes; null until the run is finished. */
  readonly not_judged: number | null;
  readonly seconds: number | null;
}

/** Progress of a run, counting the items of the current pass. */
export interface RunProgress {
  readonly planned: number;
  /** Whether `planned` is final. */
  readonly plan_closed: boolean;
  readonly judged: number;
  /** Committed verdicts with the decision `review`. */
  readonly review: number;
  /** Committed verdicts with the decision `block`. */
  readonly block: number;
  readonly errors: number;
  /** Verdicts by flagged category so far; one verdict may count in several. */
  readonly by_category: Readonly<Record<string, number>>;
  readonly items_per_second: number | null;
  readonly seconds_left: number | null;
}

/** A run as shown on its page. */
export interface RunDetail extends RunRow {
  /** Absolute path of the run directory. */
  readonly dir: string;
  /** Shell command that continues the run, or retries what was not judged; null if there is nothing to do. */
  readonly command: string | null;
  readonly pass: number;
  readonly sources: readonly string[];
  readonly policy: Policy;
  /** Endpoints as configured; empty if the workers of a fleet judge. */
  readonly guards: readonly string[];
  /** Data from the summary; null until the run is finished. */
  readonly summary: {
    readonly items: number;
    readonly verdicts: number;
    /** Verdicts of guards that only return the scores 0 and 1. */
    readonly binary_scores: number;
    readonly errors: number;
    readonly restricted: number;
    readonly by_category: Readonly<Record<string, number>>;
    readonly without_category: number;
    /** Items without a verdict by cause, the most frequent first, each with advice. */
    readonly not_judged: readonly NotJudged[];
    readonly chain_head: string;
  } | null;
  /** Changes with every review. */
  readonly version: string;
  /**
   * Whether its content may be read, which requires that the run was created by this user and its sources are below a
   * --root.
   */
  readonly content: { readonly readable: boolean; readonly reason: string | null };
}

/** A file without any verdict. */
export interface FileToFix {
  readonly path: string;
  /** First item of the file. */
  readonly seq: number;
  /** Number of items that it counts as: the rows of a table. */
  readonly items: number;
  readonly code: ItemCode;
  readonly reason: ItemErrorReason | null;
  /** Error of its first item. */
  readonly why: string;
  /** Specific advice for this file; null if the general advice for the cause applies. */
  readonly advice: string | null;
  /** Column names of a table whose text column was not recognised. */
  readonly columns: readonly string[];
  /** Shell command that judges the file; null if the file itself must be changed. */
  readonly command: string | null;
}

/** `GET /api/runs/:run/to-fix`: up to 100 files without any verdict, those with the most items first. */
export interface ToFix {
  readonly files: number;
  readonly items: number;
  readonly listed: readonly FileToFix[];
}

/** The services that runs depend on. */
export interface Health {
  readonly guards: readonly {
    readonly endpoint: string;
    readonly ready: boolean;
    /** Human-readable problem; null if the guard is ready. */
    readonly problem: string | null;
    readonly fingerprint: string | null;
    readonly requests_in_flight: number | null;
  }[];
  /** Null without Redis. */
  readonly fleet: {
    readonly redis: string;
    readonly connected: boolean;
    readonly workers: number;
    readonly sinks: number;
    /** Jobs by queue. */
    readonly queues: readonly { readonly queue: string; readonly waiting: number; readonly active: number }[];
  } | null;
}

/** `GET /api/runs`: all runs, and the services they depend on. */
export interface RunList {
  /** Newest first; at most 1000. */
  readonly runs: readonly RunRow[];
  /** Number of older runs, which are not listed. */
  readonly older: number;
  readonly health: Health;
}

/** Answer to a login, which also sets the cookie. */
export interface LoggedIn {
  /** Sent as the header `x-page-key` with every request that is not a GET. */
  readonly page_key: string;
}

/** Data that pages need before anything else. */
export interface Session {
  readonly version: string;
  /** Shell command that starts a run. */
  readonly start_command: string;
  /** Whether runs can be paused, continued and cancelled here. */
  readonly may_control: boolean;
  /** Name that the person gave for their reviews; null if none, in which case nothing can be decided. */
  readonly reviewer: string | null;
}

/** The body of every answer that is not 2xx. */
export interface ApiFailure {
  readonly error: {
    readonly code: string;
    readonly message: string;
    /** Key of the invalid part of the body, if known; the page shows the message there. */
    readonly field?: string | undefined;
    /** With `REVIEWED_MEANWHILE`: the newest review of the item. */
    readonly review?: SavedReview | undefined;
  };
}
