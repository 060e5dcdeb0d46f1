import type { KeyObject } from 'node:crypto';
import type { AfterFinish } from '../config/after-finish.ts';
import type { GuardTlsFiles } from '../config/keys/guard-tls.ts';
import type { RedisAddress } from '../config/values/redis-url.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { LineWriter } from '../terminal/line-writer.ts';
import type { Interrupts } from '../terminal/interrupt.ts';

/** The process that a command runs in. */
export interface CommandContext {
  /** Absolute working directory; paths on the command line are relative to it. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Receives results. */
  readonly stdout: LineWriter;
  /** Receives progress, notices and failures. */
  readonly stderr: LineWriter;
  readonly interrupts: Interrupts;
}

/** Output of the commands that work on a run. */
export interface RunUi extends CommandContext {
  /** Print the result as one JSON document instead of text. */
  readonly json: boolean;
  /** Print only failures on stderr. */
  readonly quiet: boolean;
}

/** How a process takes part in a fleet. */
export interface FleetAccess {
  readonly redis: RedisAddress;
  /** Key that seals jobs and results. If null, they travel in plain text and forged ones are accepted. */
  readonly key: KeyObject | null;
}

/** Settings of the commands that complete a run. */
export interface FeedUi extends RunUi {
  /** The arguments typed after `enqueue`; null for another command. */
  readonly typed: readonly string[] | null;
  /** The fleet that judges the run; null if this process does. */
  readonly fleet: FleetAccess | null;
  readonly guardTls: GuardTlsFiles;
  /** Timeout for Redis and guards at the start, in milliseconds. */
  readonly startWaitMs: number;
  readonly afterFinish: AfterFinish;
}

/** Hashes kept elsewhere, to check a record against. */
export interface VerifyAgainst {
  readonly head: string | null;
  /** Absolute path of a file of chain heads. */
  readonly headFile: string | null;
  readonly publicKey: KeyObject | null;
}

/** Options for a run that already has a directory. */
export interface ContinueUi extends FeedUi {
  /** Also work on a run that this user did not create on this machine. */
  readonly trustRun: boolean;
}

/**
 * The commands that work on a run, called with their parsed arguments. Each resolves to the exit status of a run that
 * ended (0, 1, 3 or 5), or rejects with a Failure, which has its own status. Run directories are absolute.
 */
export interface RunCommands {
  /** `runId` is the name of the run directory; default: a new one. */
  enqueue(config: RunConfig, ui: FeedUi, runId?: string): Promise<number>;
  resume(runDir: string, ui: ContinueUi): Promise<number>;
  retry(runDir: string, ui: ContinueUi): Promise<number>;
  verify(runDir: string, against: VerifyAgainst, ui: RunUi): Promise<number>;
}

/** Loads the commands on demand: importing the code for runs takes longer than most other commands take in total. */
export type LoadRuns = () => Promise<RunCommands>;

/** Takes the exit status of a command that did not fail. */
export type ReportStatus = (exitStatus: number) => void;
