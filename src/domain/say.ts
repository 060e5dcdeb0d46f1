/** Formats of log lines. */
export const LOG_FORMATS = ['json', 'text'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** The fields of a log line in addition to its time and message: ids and words from small fixed sets, never content. */
export interface LogFields {
  /** Default `info`. */
  readonly level?: 'info' | 'warn' | 'error';
  /** A short stable name, listed in docs/operations.md; default `notice`. */
  readonly event?: string;
  readonly run?: string;
  readonly shard?: number;
  readonly guard?: string;
  /** The reason: the kind of a failure, why a job was dropped, the exit status of a run. */
  readonly code?: string;
}

/** Prints or logs one line of text. The fields appear in logs only. */
export type Say = (message: string, fields?: LogFields) => void;
