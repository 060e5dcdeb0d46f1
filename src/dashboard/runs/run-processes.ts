import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { DashboardError, type DashboardCode } from '../errors.ts';

/** Commands at a time; each may use a whole machine. */
const MAX_PROCESSES = 4;

/** Characters kept of the end of what a command prints on stderr. */
const MAX_TAIL = 4096;

/** Characters of its last line that are shown. */
const MAX_SHOWN = 1000;

/** Statuses of a command that did what it should: finished, a gate tripped, not everything judged; or interrupted. */
const WELL: ReadonlySet<number> = new Set([0, 3, 5, 130]);

const CODES: Readonly<Record<number, DashboardCode>> = { 2: 'INVALID_REQUEST', 4: 'UNAVAILABLE' };

/** Runs whose last command is remembered; the oldest is forgotten when there is one more. */
const MAX_REMEMBERED = 200;

interface RunProcessesOptions {
  /** Program and first arguments of the command line: Node and its main file. */
  readonly program: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  /** Absolute. */
  readonly cwd: string;
}

/** A command that takes a run to its end, in a process of its own. */
export class RunProcess {
  readonly #child: ChildProcess;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  #tail = '';
  #isGone = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#tail = (this.#tail + text).slice(-MAX_TAIL);
    });
    const over = new Promise<void>((resolve) => child.once('close', resolve).once('error', () => resolve()));
    this.gone = over.then(() => void (this.#isGone = true));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Why the command failed, in its own last words; null while it runs, and if it did not. */
  get failure(): DashboardError | null {
    const { exitCode } = this.#child;
    if (!this.#isGone || (exitCode !== null && WELL.has(exitCode))) return null;
    const last = this.#tail.trimEnd().split('\n').at(-1)!;
    const words = last.replace(/^guardsweep: /, '').slice(0, MAX_SHOWN) || 'it said nothing';
    return new DashboardError(CODES[exitCode ?? 1] ?? 'INTERNAL', words);
  }

  kill(signal: 'SIGINT' | 'SIGKILL'): void {
    this.#child.kill(signal);
  }
}

/** The commands that this server has started, which end with it. */
export class RunProcesses {
  readonly #options: RunProcessesOptions;
  readonly #processes = new Set<RunProcess>();
  readonly #byRun = new Map<string, RunProcess>();
  #isClosing = false;

  constructor(options: RunProcessesOptions) {
    this.#options = options;
  }

  /** Starts a command, without a shell. TOO_MANY_REQUESTS while there are too many. */
  async start(args: readonly string[]): Promise<RunProcess> {
    const { program, env, cwd } = this.#options;
    if (this.#isClosing) throw new DashboardError('UNAVAILABLE', 'the dashboard is shutting down');
    if (this.#processes.size >= MAX_PROCESSES) {
      throw new DashboardError(
        'TOO_MANY_REQUESTS',
        `${MAX_PROCESSES} runs are being worked on for this dashboard: wait until one is finished`,
      );
    }
    const [file, ...first] = program;
    const child = spawn(file, [...first, ...args], { env, cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    const process = new RunProcess(child);
    this.#processes.add(process);
    void process.gone.then(() => this.#processes.delete(process));
    if (child.pid === undefined) await once(child, 'error').catch(() => {});
    return process;
  }

  /** The last command for a run; null: none was started here. */
  of(run: string): RunProcess | null {
    return this.#byRun.get(run) ?? null;
  }

  assign(run: string, process: RunProcess): void {
    this.#byRun.delete(run);
    this.#byRun.set(run, process);
    const [oldest] = this.#byRun.keys();
    if (this.#byRun.size > MAX_REMEMBERED) this.#byRun.delete(oldest!);
  }

  /** Interrupts all commands, which then keep what was judged, and waits for them; they are killed when `stop` aborts. */
  async close(stop: AbortSignal): Promise<void> {
    this.#isClosing = true;
    const processes = [...this.#processes];
    for (const process of processes) process.kill('SIGINT');
    const kill = (): void => processes.forEach((process) => process.kill('SIGKILL'));
    if (stop.aborted) kill();
    else stop.addEventListener('abort', kill, { once: true });
    await Promise.all(processes.map(({ gone }) => gone));
    stop.removeEventListener('abort', kill);
  }
}
