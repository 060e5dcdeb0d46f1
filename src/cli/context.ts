import type { Writable } from 'node:stream';
import type { RedisAddress } from '../config/redis-url.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { Interrupts } from './interrupt.ts';

/** Where a command writes: results to stdout, everything about the way there to stderr. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** All that a command knows of the process around it. */
export interface CommandContext {
  /** Absolute folder the user stands in; paths on the command line are relative to it. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly interrupts: Interrupts;
}

/** How the commands that work on a run show what they do. */
export interface RunUi extends CommandContext {
  /** The result as one JSON document on stdout, instead of text. */
  readonly json: boolean;
  /** Nothing on stderr but failures. */
  readonly quiet: boolean;
}

/** How the commands that bring a run to its end go about it. */
export interface FeedUi extends RunUi {
  /** The fleet that judges the run; null: this process does. */
  readonly redis: RedisAddress | null;
  /** Leave the feeder running in the background. */
  readonly detach: boolean;
  /** How long Redis and guards may take to be there at the start, in milliseconds. */
  readonly startWaitMs: number;
}

/**
 * The commands that work on a run, behind their parsed arguments. Each resolves to the exit status of a run that
 * came to its end (0, 1, 3 or 5), or rejects with a Failure, which carries its own. Run directories are absolute.
 */
export interface RunCommands {
  enqueue(config: RunConfig, ui: FeedUi): Promise<number>;
  resume(runDir: string, ui: FeedUi): Promise<number>;
  retry(runDir: string, ui: FeedUi): Promise<number>;
  verify(runDir: string, options: { readonly head: string | null }, ui: RunUi): Promise<number>;
}

/** Takes the exit status of a command that did not fail. */
export type ReportStatus = (exitStatus: number) => void;
