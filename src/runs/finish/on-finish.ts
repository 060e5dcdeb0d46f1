import { spawn } from 'node:child_process';
import { Failure } from '../../domain/failure.ts';

/** How long the command may take, in milliseconds. */
const MAX_MS = 60_000;
/** As much of what it writes to stderr as is shown when it fails, in bytes. */
const MAX_SAID = 4096;
/** How long others may hold its stderr open after its end, in milliseconds. */
const CLOSING_MS = 1000;
/** Our own variables, of which some are secrets. */
const OURS = /^(GUARD|REDIS)/;

export interface OnFinishInput {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The environment of this process, of which the command gets all but our own variables. */
  readonly env: NodeJS.ProcessEnv;
  /** What the command is told, by variable. */
  readonly about: Readonly<Record<`GUARDSWEEP_${string}`, string>>;
  /** Aborted when the command is to be ended. */
  readonly signal: AbortSignal;
  /** How long it may take, in milliseconds; default 60 s. */
  readonly timeoutMs?: number;
}

/**
 * Runs a command without a shell and waits for its end. Failure('service') when it cannot be started, takes too long, or
 * ends with another status than 0, with what it said on stderr as `cause`; an AbortError when aborted.
 */
export async function runOnFinish(input: OnFinishInput): Promise<void> {
  const { command, cwd, env, about, signal, timeoutMs = MAX_MS } = input;
  const [program, ...args] = command;
  const inherited = Object.entries(env).filter(([name]) => !OURS.test(name));
  const child = spawn(program!, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), ...about },
    stdio: ['ignore', 'ignore', 'pipe'],
    killSignal: 'SIGKILL',
    signal,
  });
  // The timeout of spawn would go on, and keep the process, where the program cannot be started.
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  let said = Buffer.alloc(0);
  child.stderr.on('data', (bytes: Buffer) => {
    if (said.length < MAX_SAID) said = Buffer.concat([said, bytes]).subarray(0, MAX_SAID);
  });
  const ended = await new Promise<string | null>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) reject(error);
      else resolve(`cannot be started (${error.code ?? error.name})`);
    });
    child.on('exit', () => setTimeout(() => child.stderr.destroy(), CLOSING_MS).unref());
    child.on('close', (status, killedBy) => {
      if (status === 0) resolve(null);
      else if (status !== null) resolve(`ended with status ${status}`);
      else resolve(child.killed ? `was ended after ${timeoutMs / 1000} s` : `was ended by ${killedBy!}`);
    });
  }).finally(() => clearTimeout(timer));
  if (ended === null) return;
  throw new Failure('service', `${program!} ${ended}`, { cause: said.toString().trimEnd() });
}
