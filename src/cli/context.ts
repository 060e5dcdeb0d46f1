import type { KeyObject } from 'node:crypto';
import type { AfterFinish } from '../config/after-finish.ts';
import type { RedisAddress } from '../config/values/redis-url.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { LineWriter } from '../terminal/line-writer.ts';
import type { Interrupts } from '../terminal/interrupt.ts';

/** All that a command knows of the process around it. */
export interface CommandContext {
  /** Absolute folder the user stands in; paths on the command line are relative to it. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** For results. */
  readonly stdout: LineWriter;
  /** For everything about the way there. */
  readonly stderr: LineWriter;
  readonly interrupts: Interrupts;
}

/** How the commands that work on a run show what they do. */
export interface RunUi extends CommandContext {
  /** The result as one JSON document on stdout, instead of text. */
  readonly json: boolean;
  /** Nothing on stderr but failures. */
  readonly quiet: boolean;
}

/** How a process takes part in a fleet. */
export interface FleetAccess {
  readonly redis: RedisAddress;
  /** What jobs and results are sealed with; null: they travel in the clear, and anybody's are taken. */
  readonly key: KeyObject | null;
  /** Whether `--insecure-fleet` was given. */
  readonly insecure: boolean;
}

/** How the commands that bring a run to its end go about it. */
export interface FeedUi extends RunUi {
  /** The fleet that judges the run; null: this process does. */
  readonly fleet: FleetAccess | null;
  /** Leave the feeder running in the background. */
  readonly detach: boolean;
  /** How long Redis and guards may take to be there at the start, in milliseconds. */
  readonly startWaitMs: number;
  readonly afterFinish: AfterFinish;
}

/** What a record is held against that was kept elsewhere. */
export interface VerifyAgainst {
  readonly head: string | null;
  /** Absolute path of a file of chain heads. */
  readonly headFile: string | null;
  readonly publicKey: KeyObject | null;
}

/** How the commands that go on with a run do so. */
export interface ContinueUi extends FeedUi {
  /** Also when this user has not created it here. */
  readonly trustRun: boolean;
}

/**
 * The commands that work on a run, behind their parsed arguments. Each resolves to the exit status of a run that
 * came to its end (0, 1, 3 or 5), or rejects with a Failure, which carries its own. Run directories are absolute.
 */
export interface RunCommands {
  enqueue(config: RunConfig, ui: FeedUi): Promise<number>;
  resume(runDir: string, ui: ContinueUi): Promise<number>;
  retry(runDir: string, ui: ContinueUi): Promise<number>;
  verify(runDir: string, against: VerifyAgainst, ui: RunUi): Promise<number>;
}

/** Takes the exit status of a command that did not fail. */
export type ReportStatus = (exitStatus: number) => void;
