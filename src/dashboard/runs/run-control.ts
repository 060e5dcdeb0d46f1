import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clearMarker, setMarker } from '../../runs/control/control-files.ts';
import { readFeeder } from '../../runs/control/feed-claim.ts';
import { readRunRecord } from '../../runs/open-run.ts';
import type { RunAction, RunRow } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import { contentRefusal } from './content-access.ts';
import { type AskedRun, enqueueArguments, type NewRunRules } from './new-run.ts';
import { isPlainName, type RunFolder } from './run-folder.ts';
import type { RunList } from './run-list.ts';
import type { RunProcess, RunProcesses } from './run-processes.ts';

/** How often the folder is checked while a command starts, in milliseconds. */
const LOOK_EVERY_MS = 200;

/** A command that has not begun to feed its run by then is ended, in milliseconds: it may have to list many files first. */
const START_WITHIN_MS = 10 * 60_000;

/** How long a command that was cancelled may take to end, in milliseconds: it drains for 10 s. */
const GONE_WITHIN_MS = 15_000;

interface RunControlOptions extends NewRunRules {
  readonly folder: RunFolder;
  readonly list: RunList;
  readonly processes: RunProcesses;
  /** Path of this user's key file, see runKeyFile. */
  readonly keyFile: string | null;
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
}

/** Starts and steers runs. */
export class RunActions {
  readonly #options: RunControlOptions;

  constructor(options: RunControlOptions) {
    this.#options = options;
  }

  /** Creates a run and has it judged. Resolves to the name of its directory once it is being fed. */
  async start(asked: AskedRun): Promise<string> {
    const { folder, processes } = this.#options;
    await this.#assertMayControl();
    const args = await enqueueArguments(asked, this.#options);
    const before = new Set(await folder.names());
    const command = await processes.start(args);
    const created = async (): Promise<string[]> =>
      (await folder.names()).filter((name) => !before.has(name) && isPlainName(name));
    const run = await this.#fedBy(command, created);
    if (run === null) throw new DashboardError('INTERNAL', 'the run ended before it was created');
    this.#keep(run, command);
    return run;
  }

  /**
   * Does what was asked of a run. CONFLICT in a state in which that cannot be done, FORBIDDEN when others can write in the
   * run, or when it would read what the dashboard may not.
   */
  async act(run: string, action: RunAction): Promise<void> {
    const { folder, list, signal } = this.#options;
    await this.#assertMayControl();
    const dir = await folder.findOwn(run);
    const { row } = await list.current(run, signal);
    assertPossible(row, action);
    if (action === 'pause') await setMarker(dir, 'paused');
    else if (action === 'continue') await clearMarker(dir, 'paused');
    else if (action === 'cancel') await setMarker(dir, 'cancelled');
    else await this.#goOn(run, dir, action);
    list.forget(run);
  }

  async #goOn(run: string, dir: string, action: 'resume' | 'retry'): Promise<void> {
    const { processes } = this.#options;
    const earlier = processes.of(run);
    // One that was cancelled finishes first what is in flight.
    if (earlier !== null) await Promise.race([earlier.gone, delay(GONE_WITHIN_MS, null, { ref: false })]);
    if (earlier?.isGone === false) {
      throw new DashboardError('CONFLICT', 'a command for this run is still at work');
    }
    await this.#assertMayRead(dir);
    const command = await processes.start([action, '--quiet', '--', dir]);
    this.#keep(run, command);
    await this.#fedBy(command, async () => [run]);
  }

  /** Its corpora are read, and sent to its guards. */
  async #assertMayRead(dir: string): Promise<void> {
    const record = await readRunRecord(dir);
    if (record === null) throw new DashboardError('CONFLICT', 'the run cannot be read');
    const refusal = await contentRefusal(dir, record, this.#options);
    if (refusal !== null) throw new DashboardError('FORBIDDEN', refusal.message);
  }

  /**
   * The run, one of those that `names` returns, that a command has begun to feed; null when the command has ended well
   * without feeding any. Throws what the command failed with.
   */
  async #fedBy(command: RunProcess, names: () => Promise<readonly string[]>): Promise<string | null> {
    const { folder, signal } = this.#options;
    const late = AbortSignal.timeout(START_WITHIN_MS);
    for (;;) {
      const { isGone } = command;
      for (const name of await names()) {
        const feeder = await readFeeder(join(folder.path, name));
        if (feeder?.pid === command.pid && feeder?.host === hostname()) return name;
      }
      if (isGone) break;
      signal.throwIfAborted();
      if (late.aborted) command.kill('SIGINT');
      await Promise.race([command.gone, delay(LOOK_EVERY_MS)]);
    }
    if (command.failure !== null) throw command.failure;
    return null;
  }

  #keep(run: string, command: RunProcess): void {
    this.#options.processes.assign(run, command);
    void command.gone.then(() => this.#options.list.forget(run));
  }

  async #assertMayControl(): Promise<void> {
    const { folder } = this.#options;
    if (await folder.isWritable()) return;
    throw new DashboardError(
      'FORBIDDEN',
      `runs cannot be changed here: ${basename(folder.path)} is not writable`,
    );
  }
}

const DONE: Readonly<Record<RunAction, string>> = {
  pause: 'paused',
  continue: 'continued',
  cancel: 'cancelled',
  resume: 'resumed',
  retry: 'retried',
};

function assertPossible({ state, actions }: RunRow, action: RunAction): void {
  if (actions.includes(action)) return;
  throw new DashboardError('CONFLICT', `a run that is ${state} cannot be ${DONE[action]}`);
}
