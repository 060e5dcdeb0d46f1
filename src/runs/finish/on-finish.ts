import { spawn } from 'node:child_process';
import { Failure } from '../../domain/failure.ts';

/** Default timeout of the command, in milliseconds. */
const MAX_MS = 60_000;
/** Maximum bytes of its stderr to show when it fails. */
const MAX_SAID = 4096;
/** How long its child processes may keep its stderr open after it has exited, in milliseconds. */
const CLOSING_MS = 1000;
/** Our own variables, some of which are secrets. */
const OURS = /^(GUARD|REDIS|OPENAI)/;

interface OnFinishInput {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** Environment of this process; the command inherits all but our own variables. */
  readonly env: NodeJS.ProcessEnv;
  /** Variables that tell the command about the run. */
  readonly about: Readonly<Record<`GUARDSWEEP_${string}`, string>>;
  /** Input for the command's stdin. */
  readonly input: string;
  /** Aborted to kill the command. */
  readonly signal: AbortSignal;
  /** In milliseconds; default 60 s. */
  readonly timeoutMs?: number;
}

/**
 * Runs a command without a shell and waits until it exits. Failure('service') when it cannot be started, times out, or
 * exits with a status other than 0, with its stderr as `cause`. Rejects with an AbortError when aborted.
 */
export async function runOnFinish(input: OnFinishInput): Promise<void> {
  const { command, cwd, env, about, input: text, signal, timeoutMs = MAX_MS } = input;
  const [program, ...args] = command;
  const inherited = Object.entries(env).filter(([name]) => !OURS.test(name));
  const child = spawn(program!, args, {
    cwd,
    env: { ...Object.fromEntries(inherited), ...about },
    stdio: ['pipe', 'ignore', 'pipe'],
    killSignal: 'SIGKILL',
    signal,
  });
  // The timeout option of spawn keeps running, and the process alive, when the program cannot be started.
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  // A command need not read its input.
  child.stdin.on('error', () => undefined).end(text);
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
