import { setMaxListeners } from 'node:events';
import { resolve } from 'node:path';
import { readSecretFiles } from '../config/keys/secret-files.ts';
import { oneOf } from '../config/usage-error.ts';
import { resolveRunConfig } from '../config/resolve.ts';
import { START_WAIT } from '../config/settings/entries/fleet.ts';
import { FAIL_IF } from '../config/settings/entries/gates.ts';
import { flagName, type Flags } from '../config/settings/given.ts';
import { JOB_SETTINGS } from '../config/settings/job-settings.ts';
import { Failure } from '../domain/failure.ts';
import { startHere } from '../guard-setup/start-here.ts';
import type { Summary } from '../record/summary/summary.ts';
import { reportWhenFinished } from '../report/html/write-report.ts';
import { handOver } from '../runs/finish/hand-over.ts';
import { tellEnd } from '../runs/finish/tell-end.ts';
import type { RunView } from '../runs/progress.ts';
import { EXIT_STATUS } from '../runs/run-end.ts';
import { noStreamsLine, type RunEvent, unheardLine } from '../runs/run-events.ts';
import { runKeyFile } from '../runs/trust/run-key.ts';
import { DRAIN_MS, type Interrupts } from '../terminal/interrupt.ts';
import { assertExportable, type CleanRows, writeCleanRows } from './clean-rows.ts';
import type { GivenFlags } from './given-flags.ts';

/** Content to moderate, and settings. Defaults are those of `guardsweep enqueue`. */
export interface StartRunOptions {
  /** Files, folders and globs, relative to `cwd`. Either these or `jobFile`. */
  readonly paths?: readonly string[];
  /** A job file (.yaml, .yml); the other options override it. */
  readonly jobFile?: string;
  /** URLs of guards: `embedded:`, `grpc://gpu-1:8001`. */
  readonly guard?: string | readonly string[];
  /** Path of a policy file. */
  readonly policy?: string;
  /** Folder in which the run directory is created. */
  readonly out?: string;
  /** Any other flag of `enqueue`, by its name in camel case: `{ textColumn: 'body', failIf: ['hate=0.01'] }`. */
  readonly flags?: GivenFlags;
  /** Base of relative paths; default: the working directory of the process. */
  readonly cwd?: string;
  /** Environment with tokens and other variables; default: that of the process. `REDIS_URL` is ignored. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Abort to interrupt the run: requests in flight get up to 10 s to finish. `guardsweep resume` continues it. */
  readonly signal?: AbortSignal;
  /** Called with the absolute run directory as soon as it exists. */
  readonly onCreated?: (dir: string) => void;
  /** Called about once a second while items are judged, and once at the end. */
  readonly onProgress?: (progress: RunView) => void;
  /** Called with one line to show to users, such as when a guard is not ready. */
  readonly onNotice?: (line: string) => void;
}

/** A run that has ended. */
export interface EndedRun {
  /** The run directory, absolute. */
  readonly dir: string;
  readonly summary: Summary;
  /**
   * `complete`: everything was judged. `gate`: a gate tripped. `not-judged`: some items have no verdict, or there are
   * no items. `incomplete`: items are missing from the record.
   */
  readonly end: 'complete' | 'gate' | 'not-judged' | 'incomplete';
  /** The exit status of `guardsweep enqueue`: 0, 1, 3 or 5. */
  readonly exitStatus: number;
  /** Result of `exportClean`; null if it was not given. */
  readonly clean: CleanRows | null;
}

const PROGRESS_MS = 1000;

/**
 * Creates a run and completes it in this process, as `guardsweep enqueue` does without Redis. Installs no signal
 * handlers and prints nothing. An interrupted run, and one whose guards failed, is kept for `guardsweep resume`.
 *
 * Rejects with a Failure: `usage` for a mistake in the options, before anything is written; `service` when no guard is
 * usable, or when the head of a finished run could not be handed over; `interrupted` when `signal` was aborted;
 * `superseded` when another process took over the run; `internal` for bugs.
 */
export async function startRun(options: StartRunOptions): Promise<EndedRun> {
  const { signal } = options;
  const cwd = resolve(options.cwd ?? '.');
  const env = await readSecretFiles(options.env ?? process.env, cwd);
  const input = { paths: pathsOf(options), flags: flagsOf(options), env, cwd };
  const resolved = await resolveRunConfig(input);
  const { config, afterFinish } = resolved;
  await assertExportable(afterFinish.exportClean, config.sources);
  const interrupts = interruptsOf(signal);
  const reporter = new Reporter(options);
  try {
    const { drain, stop } = interrupts;
    const running = { keyFile: runKeyFile(env), drain, stop, report: reporter.report };
    const result = await startHere(resolved, env, running);
    reporter.end();
    const { run, summary, end } = result;
    const { exportClean, report } = afterFinish;
    if (report && summary.status === 'finished') {
      const notice = await reportWhenFinished(run.dir, result, drain);
      if (notice !== null) options.onNotice?.(notice.line);
    }
    const isExported = exportClean !== null && summary.status === 'finished';
    const written = isExported ? await writeCleanRows(run.dir, exportClean, drain) : null;
    await handOver(result, { afterFinish, signal: drain });
    const exitStatus = end === 'complete' ? (written?.exitStatus ?? 0) : EXIT_STATUS[end];
    const failure = await tellEnd(
      { run, status: exitStatus, summary },
      { afterFinish, cwd, env, signal: stop },
    );
    if (failure !== null) options.onNotice?.(failure.message);
    return { dir: run.dir, summary, end, exitStatus, clean: written?.clean ?? null };
  } finally {
    reporter.stop();
    interrupts.end();
  }
}

function pathsOf({ paths = [], jobFile }: StartRunOptions): readonly string[] {
  if (!isListOfTexts(paths)) throw new Failure('usage', 'paths: expected a list of texts');
  if (jobFile === undefined) return paths;
  if (paths.length === 0) return [jobFile];
  throw new Failure('usage', 'give either paths or jobFile: a job file names its own sources');
}

/** JavaScript callers have no compiler that checks their options. */
function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** Forwards the events of a run. */
class Reporter {
  readonly #options: StartRunOptions;
  #view: (() => RunView) | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StartRunOptions) {
    this.#options = options;
  }

  readonly report = (event: RunEvent): void => {
    const { onCreated, onNotice } = this.#options;
    if (event.kind === 'created') onCreated?.(event.run.dir);
    else if (event.kind === 'judging') this.#watch(event.view);
    else if (event.kind === 'notice') onNotice?.(event.line);
    else if (event.kind === 'guards')
      onNotice?.(event.ready ? 'a guard is ready again' : 'no guard is ready; waiting');
    else if (event.kind === 'guard-out') onNotice?.(`${event.guard} is not ready (${event.reason})`);
    else if (event.kind === 'unfinished')
      onNotice?.(`an earlier run of these sources is not finished: ${event.dir}`);
    else if (event.kind === 'unheard-clips') onNotice?.(unheardLine(event.unheard));
    else if (event.kind === 'no-streams') onNotice?.(noStreamsLine(event.guards));
  };

  /** Reports the last progress. */
  end(): void {
    this.stop();
    if (this.#view !== null) this.#options.onProgress?.(this.#view());
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #watch(view: () => RunView): void {
    const { onProgress } = this.#options;
    this.#view = view;
    if (onProgress !== undefined) this.#timer = setInterval(() => onProgress(view()), PROGRESS_MS);
  }
}

/** Converts one signal to the two steps of an interrupt: drain for at most 10 s, then stop. `end` releases it. */
function interruptsOf(signal: AbortSignal | undefined): Interrupts & { end(): void } {
  const drain = new AbortController();
  const stop = new AbortController();
  // Every request in flight listens to these signals, which Node would report as a leak.
  setMaxListeners(0, drain.signal, stop.signal);
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    const late = new Failure('interrupted', 'interrupted before everything in flight was finished');
    timer = setTimeout(() => stop.abort(late), DRAIN_MS);
    drain.abort(new Failure('interrupted', 'interrupted'));
  };
  if (signal?.aborted === true) begin();
  else signal?.addEventListener('abort', begin, { once: true });
  return {
    drain: drain.signal,
    stop: stop.signal,
    end: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', begin);
    },
  };
}

interface Options {
  readonly guard?: string | readonly string[];
  readonly policy?: string;
  readonly out?: string;
  readonly flags?: GivenFlags;
}

/** Flags that are not keys of job files, in addition to those that are. */
const KNOWN = [...JOB_SETTINGS, FAIL_IF, START_WAIT].flatMap(({ flag }) =>
  flag === null ? [] : [flagName(flag)],
);

/** The command-line flags for the options. Failure('usage') for an unknown one. */
function flagsOf({ guard, policy, out, flags = {} }: Options): Flags {
  const given: Record<string, Flags[string]> = {};
  for (const [name, value] of Object.entries(flags)) {
    const known = oneOf(KNOWN, { value: name, place: 'flags' });
    // A flag such as --no-reuse takes no value; false means that it is not given.
    if (value === false && /^no[A-Z]/.test(known)) continue;
    given[known] = typeof value === 'number' ? String(value) : value;
  }
  return {
    ...given,
    ...(guard !== undefined && { guard }),
    ...(policy !== undefined && { policy }),
    ...(out !== undefined && { out }),
  };
}
