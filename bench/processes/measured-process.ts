import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure } from '../../src/domain/failure.ts';
import type { BenchContext } from '../harness/bench.ts';
import { residentBytes } from './resident-bytes.ts';
import type { Usage } from './usage.ts';

const { resolve } = createRequire(import.meta.url);
const PRELOAD = pathToFileURL(resolve('#dist/bench/processes/report-usage.js')).href;
const MAIN = resolve('#dist/src/cli/main.js');

/** Variables that configure commands; benches set the ones they need. */
const OURS = /^(GUARD|REDIS|BENCH|npm_|INIT_CWD|NODE_OPTIONS)/;

/** Max characters of a process's output to keep, from its end. */
const KEPT_CHARS = 1 << 16;

/** Time until a process that was asked to end is killed, in milliseconds. */
const MAX_END_MS = 30_000;

export interface Ended {
  readonly stdout: string;
  /** Elapsed time. */
  readonly seconds: number;
  readonly usage: Usage;
}

/** A Node process that reports its resource usage. */
export class MeasuredProcess {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #signal: AbortSignal;
  readonly #usagePath: string;
  readonly #startedAt = performance.now();
  readonly #closed: Promise<unknown>;
  #endedAt = 0;
  #stdout = '';
  #stderr = '';

  private constructor(
    name: string,
    script: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    { folder, signal }: BenchContext,
  ) {
    signal.throwIfAborted();
    this.#name = name;
    this.#signal = signal;
    this.#usagePath = join(folder, `usage-${randomUUID()}.json`);
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !OURS.test(key)));
    this.#child = spawn(process.execPath, ['--import', PRELOAD, script, ...args], {
      cwd: folder,
      env: { ...inherited, ...env, BENCH_USAGE: this.#usagePath },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child
      .stdout!.setEncoding('utf8')
      .on('data', (text: string) => (this.#stdout = (this.#stdout + text).slice(-KEPT_CHARS)));
    this.#child
      .stderr!.setEncoding('utf8')
      .on('data', (text: string) => (this.#stderr = (this.#stderr + text).slice(-KEPT_CHARS)));
    this.#closed = once(this.#child, 'close').finally(() => {
      this.#endedAt = performance.now();
      signal.removeEventListener('abort', this.#abort);
    });
    // Callers that wait for the end get the rejection.
    this.#closed.catch(() => {});
    signal.addEventListener('abort', this.#abort);
  }

  /** Starts a command of the built command line. */
  static command(
    args: readonly string[],
    context: BenchContext,
    env: NodeJS.ProcessEnv = {},
  ): MeasuredProcess {
    return new MeasuredProcess(`guardsweep ${args[0]!}`, MAIN, args, env, context);
  }

  /** Starts a script of the benches, such as `reference/floor`. */
  static script(path: string, args: readonly string[], context: BenchContext): MeasuredProcess {
    return new MeasuredProcess(path, resolve(`#dist/bench/${path}.js`), args, {}, context);
  }

  /** Resolves once its stderr contains `what`; rejects with a Failure if it ends before. */
  async says(what: string): Promise<void> {
    while (!this.#stderr.includes(what)) {
      await Promise.race([once(this.#child.stderr!, 'data'), this.#closed]);
      this.#signal.throwIfAborted();
      if (this.#isOver && !this.#stderr.includes(what)) throw this.#failure();
    }
  }

  /** Resolves to the match of `pattern` in its stdout, once there is one; rejects with a Failure if it ends before. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match !== null) return match;
      if (this.#isOver) throw this.#failure();
      await Promise.race([once(this.#child.stdout!, 'data'), this.#closed]);
      this.#signal.throwIfAborted();
    }
  }

  /** Its current resident memory, in bytes (Linux). Throws a Failure if it has ended. */
  get residentBytes(): number {
    if (this.#isOver) throw this.#failure();
    return residentBytes(this.#child.pid!);
  }

  /** Waits until it ends; rejects with a Failure unless its status is 0. */
  async ended(): Promise<Ended> {
    await this.#closed;
    this.#signal.throwIfAborted();
    if (this.#child.exitCode !== 0) throw this.#failure();
    return this.#outcome();
  }

  /** Asks it to end and waits until it has, with any status. */
  async stop(): Promise<Ended> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), MAX_END_MS);
    await this.#closed.finally(() => clearTimeout(timer));
    this.#signal.throwIfAborted();
    return this.#outcome();
  }

  /** Kills it if it still runs. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed.catch(() => {});
  }

  readonly #abort = (): void => void this.#child.kill('SIGKILL');

  get #isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #outcome(): Promise<Ended> {
    const usage = await readFile(this.#usagePath, 'utf8').catch(() => null);
    if (usage === null) throw this.#failure();
    return {
      stdout: this.#stdout,
      seconds: (this.#endedAt - this.#startedAt) / 1000,
      usage: JSON.parse(usage) as Usage,
    };
  }

  #failure(): Failure {
    const said = this.#stderr.trim().split('\n').at(-1) ?? '';
    const how = this.#child.signalCode ?? `status ${String(this.#child.exitCode)}`;
    return new Failure('internal', `${this.#name} ended with ${how}: ${said}`);
  }
}

/** Runs a script of the benches, such as `reference/floor`, to its end. */
export async function runScript(
  path: string,
  args: readonly string[],
  context: BenchContext,
): Promise<Ended> {
  const script = MeasuredProcess.script(path, args, context);
  try {
    return await script.ended();
  } finally {
    await script.kill();
  }
}
