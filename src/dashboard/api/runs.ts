import type { Policy } from '../../domain/policy.ts';
import type { Decision } from '../../domain/outcome.ts';
import type { SavedReview } from './reviews.ts';
import type { ItemCode, ItemErrorReason } from '../../domain/item-error.ts';
import type { NotJudged } from '../../domain/words/not-judged.ts';

/**
 * `stopped`: there is work left, and no feeder. `purged`: it was finished, and only its counts are kept. `unreadable`: the
 * directory cannot be read as a run.
 */
export type RunState = 'running' | 'paused' | 'stopped' | 'cancelled' | 'finished' | 'purged' | 'unreadable';

/** Requests that change what a run does. */
export const RUN_ACTIONS = ['pause', 'continue', 'cancel'] as const;

export type RunAction = (typeof RUN_ACTIONS)[number];

/** A run as a row of the list of runs. */
export interface RunRow {
  /** Name of the run directory: its key in all paths of the API. */
  readonly run: string;
  /** Name that the job or the user gave it. */
  readonly name: string;
  /** ISO 8601, UTC; null if the directory cannot be read. */
  readonly created_at: string | null;
  readonly state: RunState;
  /** Why it is stalled, or cannot be read; null when nothing is wrong. */
  readonly problem: string | null;
  readonly actions: readonly RunAction[];
  readonly progress: RunProgress;
  /** Null until the run is finished. */
  readonly by_decision: Readonly<Record<Decision, number>> | null;
  /** Items of all passes without a verdict; null until the run is finished. */
  readonly not_judged: number | null;
  readonly seconds: number | null;
}

/** How far a run is. Items of the current pass. */
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

/** A run as its page shows it. */
export interface RunDetail extends RunRow {
  /** Absolute path of the run directory. */
  readonly dir: string;
  /** Shell command that continues the run, or retries what was not judged; null if there is nothing to do. */
  readonly command: string | null;
  readonly pass: number;
  readonly sources: readonly string[];
  readonly policy: Policy;
  /** Endpoints as configured; none: the workers of a fleet judge. */
  readonly guards: readonly string[];
  /** From the summary: null until the run is finished. */
  readonly summary: {
    readonly items: number;
    readonly verdicts: number;
    /** Verdicts of guards whose scores are 0 or 1. */
    readonly binary_scores: number;
    readonly errors: number;
    readonly restricted: number;
    readonly by_category: Readonly<Record<string, number>>;
    readonly without_category: number;
    /** Items without a verdict by cause, the most frequent first, each with its remedy. */
    readonly not_judged: readonly NotJudged[];
    readonly chain_head: string;
  } | null;
  /** Changes with every review. */
  readonly version: string;
  /** Whether its content may be read: the run was created by this user, and its sources are below a --root. */
  readonly content: { readonly readable: boolean; readonly reason: string | null };
}

/** A file without any verdict. */
export interface FileToFix {
  readonly path: string;
  /** Its first item. */
  readonly seq: number;
  /** Items that it counts as: the rows of a table. */
  readonly items: number;
  readonly code: ItemCode;
  readonly reason: ItemErrorReason | null;
  /** The error of its first item. */
  readonly why: string;
  /** What to do with it in particular; null if it is what the cause says. */
  readonly advice: string | null;
  /** Names of the columns of a table whose text column was not recognised. */
  readonly columns: readonly string[];
  /** Shell command that judges it; null if the file itself must be changed. */
  readonly command: string | null;
}

/** `GET /api/runs/:run/to-fix`: the files without any verdict, those with the most items first; at most 100. */
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
    /** In words; null when it is ready. */
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

/** `GET /api/runs`: all runs, and the services that they depend on. */
export interface RunList {
  /** Newest first; at most 1000. */
  readonly runs: readonly RunRow[];
  /** Number of older runs, which are not listed. */
  readonly older: number;
  readonly health: Health;
}

/** The answer to a login. The cookie is set besides. */
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
  /** Name that the person gave for their reviews; null if none: nothing is decided without. */
  readonly reviewer: string | null;
}

/** The body of every answer that is not 2xx. */
export interface ApiFailure {
  readonly error: {
    readonly code: string;
    readonly message: string;
    /** Key of the body that is wrong, where that is known: the page shows the message there. */
    readonly field?: string | undefined;
    /** With `REVIEWED_MEANWHILE`: the newest review of the item. */
    readonly review?: SavedReview | undefined;
  };
}
